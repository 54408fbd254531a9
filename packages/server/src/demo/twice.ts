import type { App } from '../platform/http/app-types.ts'

interface Person {
  email: string
  firstname: string
  lastname: string
  company: string
}

/** How people who filled in the form of a webinar became contacts a second time. */
const AGAIN: ((person: Person) => Partial<Person>)[] = [
  ({ email, firstname, lastname }) => ({
    email: email.replace('@', '+webinar@'),
    firstname,
    lastname,
  }),
  ({ firstname, lastname, company }) => ({
    email: `${plain(firstname)}.${plain(lastname)}@mail.example.com`,
    firstname,
    lastname,
    company,
  }),
  ({ email, firstname, lastname, company }) => ({
    email: email.replace(/^[^@]+/, `${plain(firstname)[0]}${plain(lastname)}`),
    firstname,
    lastname,
    company,
  }),
]

/** Creates second contacts of some people, which the page _Duplicates_ then suggests to merge. */
export async function createPeopleTwice(app: App, apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const list = await app.inject({ url: '/v1/contacts?limit=100', headers })
  const listed = (list.json().contacts as { properties: Partial<Person> }[]).map(({ properties }) => properties)
  const people = listed.filter(isComplete)
  for (const [index, again] of AGAIN.entries()) {
    const person = people[index]
    if (!person) throw new Error('The demo has too few contacts.')
    const { email, ...properties } = again(person)
    const payload = { email, properties }
    const response = await app.inject({ method: 'POST', url: '/v1/contacts', headers, payload })
    if (response.statusCode !== 201) throw new Error(`The demo could not be created: ${response.body}`)
  }
}

function isComplete(person: Partial<Person>): person is Person {
  return (['email', 'firstname', 'lastname', 'company'] as const).every((name) => person[name])
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase()
}
