/*
 * Made-up contacts of which is known who they are, to measure suggestions of duplicates. People with two records are written in
 * the ways that really occur; those who only look alike are there as well.
 */

/** A contact, and the person that it is. */
export interface Labelled {
  person: string
  record: { email?: string; properties: Record<string, string> }
}

const FIRST =
  'Alexander Andrew Anthony Benjamin Catherine Charles Christopher Daniel Elizabeth Frederick Gregory Jennifer Jonathan Margaret Matthew Michael Nicholas Patricia Rebecca Richard Robert Samantha Stephanie Theodore Thomas Victoria William Amara Bruno Camille Dmitri Emeka Fatima Giulia Hiroshi Ingrid Jorge Kavita Leila Mateo Noor Olga Priya Rasmus Sofia Tariq Ulrike Yusuf'.split(
    ' ',
  )
const LAST =
  'Abernathy Bergström Calloway Delacroix Eriksson Fitzgerald Gutierrez Hashimoto Ibrahim Jankowski Kowalski Lindqvist Montgomery Nakamura Okonkwo Papadopoulos Quintero Rodriguez Schneider Takahashi Underwood Vandenberg Whitfield Yamamoto Zimmermann Adeyemi Blackwood Castellano Donnelly Ellsworth Fontaine Hargreaves Iversen Kensington Lombardi Mahoney Novikov Ostrowski Pemberton Rutherford Meyer Meier Hansen Jansen Müller Miller Smith Jones Brown Wang Wong Lee'.split(
    ' ',
  )
const COMPANIES =
  'Northwind Acme Globex Initech Umbrella Hooli Stark Wayne Wonka Cyberdyne Tyrell Soylent Vandelay Gringotts Monarch Aperture Oscorp Massive Duff Prestige'.split(
    ' ',
  )
const SHORT: Readonly<Record<string, string>> = {
  Alexander: 'Alex',
  Andrew: 'Andy',
  Anthony: 'Tony',
  Benjamin: 'Ben',
  Catherine: 'Kate',
  Charles: 'Charlie',
  Christopher: 'Chris',
  Daniel: 'Dan',
  Elizabeth: 'Liz',
  Frederick: 'Fred',
  Gregory: 'Greg',
  Jennifer: 'Jen',
  Jonathan: 'Jon',
  Margaret: 'Peggy',
  Matthew: 'Matt',
  Michael: 'Mike',
  Nicholas: 'Nick',
  Patricia: 'Trish',
  Rebecca: 'Becky',
  Richard: 'Rick',
  Robert: 'Bob',
  Samantha: 'Sam',
  Stephanie: 'Steph',
  Theodore: 'Ted',
  Thomas: 'Tom',
  Victoria: 'Vicky',
  William: 'Bill',
}
/** First names of siblings that one letter tells apart, or that are a woman's and a man's. */
const SIBLINGS = [
  ['Martin', 'Martina'],
  ['Julian', 'Juliana'],
  ['Andrea', 'Andreas'],
  ['Christian', 'Christina'],
  ['Karin', 'Katrin'],
  ['Gabriel', 'Gabriela'],
  ['Erik', 'Erika'],
  ['Simon', 'Simone'],
]

/** @param groups how many times each kind of case occurs */
export function labelledContacts(random: () => number, groups: number): Labelled[] {
  const contacts: Labelled[] = []
  let people = 0
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join('')

  function person(properties: Record<string, string> = {}) {
    const [firstname, lastname, company] = [pick(FIRST), pick(LAST), pick(COMPANIES)]
    return { id: `p${people++}`, firstname, lastname, company, phone: `+4420${digits(8)}`, ...properties }
  }
  type Person = ReturnType<typeof person>
  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/[^a-z]/gi, '')
      .toLowerCase()
  const atWork = ({ firstname, lastname, company }: Person) =>
    `${plain(firstname)}.${plain(lastname)}@${plain(company)}.example`
  let accounts = 0
  const free = ({ firstname, lastname }: Person) => `${plain(firstname)}.${plain(lastname)}.${accounts++}@gmail.com`
  function add({ id, firstname, lastname, company }: Person, email?: string, more: Record<string, string> = {}) {
    const properties = { firstname, lastname, company, ...more }
    contacts.push({ person: id, record: { ...(email === undefined ? {} : { email }), properties } })
  }
  function typo(name: string): string {
    const at = 1 + Math.floor(random() * (name.length - 4))
    const kind = random()
    if (kind < 0.4) return name.slice(0, at) + name.slice(at + 1)
    if (kind < 0.7) return name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2)
    return name.slice(0, at) + name[at] + name.slice(at)
  }

  for (let group = 0; group < groups; group++) {
    // One person, twice.
    const dotted = person()
    const address = free(dotted)
    add(dotted, address)
    add(dotted, address.replaceAll('.', '').replace('@gmailcom', '@googlemail.com'), {
      firstname: SHORT[dotted.firstname] ?? '',
    })
    const tagged = person()
    add(tagged, atWork(tagged))
    add(tagged, atWork(tagged).replace('@', '+webinar@'), { firstname: '', lastname: '' })
    const called = person({ firstname: pick(Object.keys(SHORT)) })
    add(called, free(called))
    add({ ...called, firstname: SHORT[called.firstname] ?? '' }, free(called), { company: `${called.company}, Inc.` })
    const mistyped = person()
    add(mistyped, free(mistyped))
    add({ ...mistyped, lastname: typo(mistyped.lastname) }, free(mistyped))
    const mistypedFirst = person()
    add(mistypedFirst, free(mistypedFirst))
    add({ ...mistypedFirst, firstname: typo(mistypedFirst.firstname) }, free(mistypedFirst))
    const phoned = person()
    add(phoned, free(phoned), { phone: phoned.phone })
    add({ ...phoned, company: '' }, free(phoned), {
      mobile: `020 ${phoned.phone.slice(5, 9)} ${phoned.phone.slice(9)}`,
    })
    const profiled = person()
    const profile = `linkedin.com/in/${plain(profiled.firstname)}-${digits(6)}`
    add(profiled, free(profiled), { linkedin_url: `https://www.${profile}/` })
    add({ ...profiled, company: '' }, free(profiled), { linkedin_url: `http://de.${profile}?trk=x` })
    // Changed the employer and the address: nothing tells that it is one person.
    const moved = person()
    add(moved, atWork({ ...moved, lastname: `${moved.lastname}${digits(3)}` }))
    add({ ...moved, company: pick(COMPANIES) }, free(moved))

    // Two people who look alike.
    const office = pick(COMPANIES)
    const shared = `info+${group}@${plain(office)}.example`
    add(person({ company: office }), shared)
    add(person({ company: office }), `info+office${group}@${plain(office)}.example`)
    const twin = person()
    add(twin, free(twin), { phone: twin.phone })
    const twinNames = SIBLINGS[group % SIBLINGS.length] as [string, string]
    const [one, other] = twinNames.map((firstname) =>
      person({ firstname, lastname: twin.lastname, company: twin.company }),
    )
    add(one as Person, free(one as Person))
    add(other as Person, free(other as Person))
    const mother = person({ company: '' })
    add(mother, free(mother), { phone: mother.phone })
    for (const firstname of ['Zoe', 'Otto']) {
      const child = person({ firstname, lastname: mother.lastname, company: '' })
      add(child, free(child), { phone: mother.phone.replace('+44', '0') })
    }
    const namesake = person()
    add(
      namesake,
      `${plain(namesake.firstname)}.${plain(namesake.lastname)}${group}a@${plain(namesake.company)}.example`,
    )
    const number = `+1212${digits(7)}`
    for (let at = 0; at < 3; at++) {
      const colleague = person({ company: office })
      add(colleague, free(colleague), { phone: number })
    }
    const [elder, younger] = [person(), person()]
    add({ ...elder, lastname: `${elder.lastname} Sr.` }, free(elder))
    add(
      { ...younger, firstname: elder.firstname, lastname: `${elder.lastname} Jr.`, company: elder.company },
      free(younger),
    )
    const wei = person({ firstname: 'Wei', lastname: pick(['Wang', 'Zhang', 'Chen']) })
    const numbered = (of: Person, at: number) =>
      `wei.${plain(of.lastname)}${group * 2 + at}@${plain(of.company)}.example`
    add(wei, numbered(wei, 0))
    const otherWei = person({ firstname: 'Wei', lastname: wei.lastname, company: wei.company })
    add(otherWei, numbered(otherWei, 1))
  }
  return contacts
}
