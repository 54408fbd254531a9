import type { Properties } from '../contacts/properties.ts'
import type { Random } from './random.ts'

const FIRST_NAMES = ['Ada', 'Aisha', 'Ben', 'Carla', 'Chen', 'Dana', 'Diego', 'Elif', 'Emma', 'Femi', 'Grace', 'Hana', 'Ines', 'Ivan', 'Jonas', 'Kaito', 'Lena', 'Liam', 'Lucía', 'Mara', 'Mateo', 'Mei', 'Nadia', 'Noah', 'Olga', 'Omar', 'Priya', 'Quinn', 'Rosa', 'Sofia', 'Tariq', 'Uma', 'Victor', 'Wanda', 'Yara', 'Zoë'] // biome-ignore format: a list
const LAST_NAMES = ['Almeida', 'Andersson', 'Bauer', 'Castillo', 'Chen', 'Dubois', 'Eze', 'Fischer', 'García', 'Haddad', 'Ito', 'Jansen', 'Kaya', 'Kowalski', 'Lindqvist', 'Lopez', 'Martin', 'Moreau', 'Müller', 'Nakamura', 'Nguyen', 'Okafor', 'Olsen', 'Patel', 'Petrov', 'Rossi', 'Santos', 'Schmidt', 'Silva', 'Singh', 'Smith', 'Tanaka', 'Ueda', 'Vargas', 'Weber', 'Yılmaz', 'Zhang'] // biome-ignore format: a list
const COMPANY_STEMS = ['Acorn', 'Alpine', 'Aurora', 'Bluebird', 'Cedar', 'Comet', 'Delta', 'Ember', 'Fjord', 'Granite', 'Harbor', 'Indigo', 'Juniper', 'Kestrel', 'Lumen', 'Maple', 'Nimbus', 'Orchid', 'Pioneer', 'Quartz', 'Raven', 'Summit', 'Tidal', 'Umbra', 'Vertex', 'Willow', 'Zephyr'] // biome-ignore format: a list
const COMPANY_KINDS = ['Analytics', 'Logistics', 'Health', 'Robotics', 'Foods', 'Energy', 'Learning', 'Software', 'Travel', 'Finance'] // biome-ignore format: a list
const INDUSTRIES: Record<string, string> = { Analytics: 'Software', Logistics: 'Transportation', Health: 'Healthcare', Robotics: 'Manufacturing', Foods: 'Food & Beverage', Energy: 'Energy', Learning: 'Education', Software: 'Software', Travel: 'Travel', Finance: 'Financial Services' } // biome-ignore format: a table
const JOB_TITLES = ['Head of Growth', 'Marketing Manager', 'Software Engineer', 'VP Engineering', 'Product Manager', 'Data Analyst', 'Chief Technology Officer', 'Sales Director', 'Customer Success Lead', 'Founder'] // biome-ignore format: a list
const PLACES = [
  ['United States', 'California', 'San Francisco'],
  ['United States', 'New York', 'New York'],
  ['United States', 'Texas', 'Austin'],
  ['Germany', 'Berlin', 'Berlin'],
  ['Germany', 'Bavaria', 'Munich'],
  ['United Kingdom', 'England', 'London'],
  ['France', 'Île-de-France', 'Paris'],
  ['Spain', 'Catalonia', 'Barcelona'],
  ['Brazil', 'São Paulo', 'São Paulo'],
  ['Japan', 'Tokyo', 'Tokyo'],
] as const
const STAGES = [
  ['lead', 34],
  ['subscriber', 22],
  ['mql', 14],
  ['sql', 9],
  ['opportunity', 8],
  ['customer', 11],
  ['evangelist', 2],
] as const
const EMPLOYEES = [4, 12, 35, 80, 150, 320, 700, 2_400, 6_000, 15_000]

export interface SampleCompany {
  name: string
  domain: string
  properties: Properties
}

export interface SampleContact {
  email: string
  properties: Properties
}

/** A company. Its name and domain are unique to the number. */
export function sampleCompany(random: Random, number: number): SampleCompany {
  const kind = random.pick(COMPANY_KINDS)
  const stem = COMPANY_STEMS[number % COMPANY_STEMS.length] ?? 'Acorn'
  const round = Math.floor(number / COMPANY_STEMS.length)
  const name = `${stem} ${kind}${round === 0 ? '' : ` ${round + 1}`}`
  const [country, state] = random.pick(PLACES)
  const numberofemployees = random.pick(EMPLOYEES)
  return {
    name,
    domain: `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.example`,
    properties: {
      industry: INDUSTRIES[kind] ?? kind,
      country,
      state,
      numberofemployees,
      annualrevenue: numberofemployees * random.integer(60_000, 240_000),
    },
  }
}

/** A person, usually at the given company. The address is unique to the number. */
export function sampleContact(random: Random, number: number, company: SampleCompany | undefined): SampleContact {
  const firstname = random.pick(FIRST_NAMES)
  const lastname = random.pick(LAST_NAMES)
  const [country, state, city] = random.pick(PLACES)
  const local = `${plain(firstname)}.${plain(lastname)}${number}`
  return {
    email: `${local}@${company?.domain ?? random.pick(['mail.example.com', 'post.example.com'])}`,
    properties: {
      firstname,
      lastname,
      ...(company ? { company: company.name, industry: company.properties.industry ?? '' } : {}),
      ...(random.chance(0.85) ? { jobtitle: random.pick(JOB_TITLES) } : {}),
      lifecyclestage: random.weighted(STAGES),
      ...(random.chance(0.5) ? { lead_status: random.pick(['new', 'open', 'in_progress', 'unqualified']) } : {}),
      country,
      state,
      city,
      ...(random.chance(0.4) ? { linkedin_url: `https://social.example/in/${local}` } : {}),
    },
  }
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase()
}
