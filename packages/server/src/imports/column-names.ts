import { CONTACT_PROPERTIES, namesOf } from '../contacts/property-catalogue.ts'
import { TRANSLATED_NAMES } from './translated-names.ts'

/**
 * The column names that mean one of ours in files of any origin, the best first. Outlook and others translate them: see
 * `translated-names.ts`, whose names come after these.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  external_id: [
    'External ID',
    'Record ID',
    'Contact ID',
    'Person ID',
    'Lead ID',
    'Customer ID',
    'Customer Number',
    'Customer No',
    'ID',
  ],
  email: [
    ...['Email', 'Primary Email', 'Email Address', 'Email Addresses', 'Main Email', 'Primary Email Address', 'Email 1'],
    ...['Email 1 Value', 'Email 1 Address', 'Work Email', 'Email Work', 'Business Email', 'Work Email Address', 'Mail'],
    ...['Mail Address', 'Contact Email', 'Email ID', 'Company Email'],
  ],
  firstname: ['Given Name', 'Forename', 'First', 'Fname', 'First Names', 'Contact First Name', 'Christian Name'],
  lastname: ['Surname', 'Family Name', 'Last', 'Lname', 'Contact Last Name'],
  full_name: [
    ...['Full Name', 'Contact Name', 'Contact Full Name', 'Person Name', 'Name', 'Contact Person', 'Customer Name'],
    ...['Client Name', 'Lead Name', 'Display Name', 'Contact', 'Person'],
  ],
  salutation: ['Name Prefix', 'Prefix'],
  name_suffix: ['Suffix'],
  company: [
    ...[
      'Company Name',
      'Organization',
      'Organisation',
      'Organization Name',
      'Organisation Name',
      'Organization 1 Name',
    ],
    ...['Org', 'Org Name', 'Account Name', 'Business Name', 'Employer', 'Associated Company', 'Workplace', 'Account'],
  ],
  company_domain: ['Company Domain Name', 'Domain'],
  jobtitle: [
    ...['Position', 'Organization Title', 'Organization 1 Title', 'Job', 'Job Position', 'Job Role', 'Role'],
    ...['Occupation', 'Designation', 'Title'],
  ],
  lifecyclestage: ['Lifecycle', 'Contact Stage', 'Stage'],
  numberofemployees: ['Employees', 'Employee Count', 'No of Employees', 'Headcount', 'Company Size'],
  annualrevenue: ['Revenue', 'Yearly Revenue', 'Turnover'],
  industry: ['Company Industry', 'Sector', 'Business Sector'],
  phone: [
    ...['Phone Number', 'Phone Numbers', 'Phone No', 'Primary Phone', 'Main Phone', 'Phone 1 Value', 'Business Phone'],
    ...['Phone Work', 'Work Phone', 'Office Phone', 'Telephone', 'Telephone Number', 'Tel', 'Tel No', 'Contact Phone'],
    ...[
      'Contact Number',
      'Mobile',
      'Mobile Phone',
      'Mobile Number',
      'Mobile Phone Number',
      'Mobile No',
      'Phone Mobile',
    ],
    ...['Cell', 'Cell Phone', 'Cellphone', 'SMS Phone Number', 'Company Main Phone', 'Home Phone', 'Phone Home'],
  ],
  city: [
    ...['Town', 'Town/City', 'City/Town', 'Business City', 'Work City', 'Address City', 'Address 1 City'],
    ...['Mailing City', 'Billing City', 'Home City', 'Locality'],
  ],
  country: [
    ...['Country/Region', 'Country Name', 'Business Country/Region', 'Business Country', 'Work Country'],
    ...['Address Country', 'Address 1 Country', 'Mailing Country', 'Billing Country', 'Home Country/Region'],
    ...['Home Country', 'Country Code'],
  ],
  state: [
    ...['State/Region', 'State/Province', 'Province', 'County', 'Business State', 'Address State', 'Address 1 Region'],
    ...['Mailing State', 'Mailing State/Province', 'Billing State', 'Home State'],
  ],
  zip: [
    ...['ZIP', 'ZIP Code', 'Postal Code', 'Postcode', 'ZIP/Postal Code', 'Postal Code/ZIP', 'Business Postal Code'],
    ...['Address 1 Postal Code', 'Address ZIP', 'Mailing Zip', 'Mailing Zip/Postal Code', 'Billing Zip'],
    ...['Home Postal Code'],
  ],
  address: [
    ...['Street Address', 'Street', 'Address Line 1', 'Address 1 Street', 'Business Street', 'Mailing Street'],
    ...[
      'Mailing Address',
      'Postal Address',
      'Billing Street',
      'Home Street',
      'Address 1',
      'Home Address',
      'Home Address 1',
    ],
  ],
  birthday: ['Birthdate', 'Date of Birth', 'DOB', 'Born'],
  website: ['Web Site', 'Website URL', 'Web Page', 'Homepage', 'Website 1 Value', 'Web'],
  linkedin_url: ['LinkedIn', 'LinkedIn Profile', 'LinkedIn Profile URL', 'Person LinkedIn URL'],
  tags: ['Tag'],
  // The columns that a download of failed rows adds, or added.
  ignore: ['import_row', 'import_error', 'error_code', 'error_message'],
}

/** Lower is better; a column whose name is ours exactly is `OWN`. */
export const OWN = -1
const BY_PLAIN_NAME = new Map([
  ...Object.entries(NAMES).flatMap(([target, names]) =>
    [...names, ...(TRANSLATED_NAMES[target] ?? [])].map((name, rank) => [plainHeader(name), { target, rank }] as const),
  ),
  ...[...Object.keys(NAMES), ...namesOf(CONTACT_PROPERTIES, ({ isDerived }) => !isDerived)].map(
    (target) => [plainHeader(target), { target, rank: OWN }] as const,
  ),
])

/** Where a column probably goes, and how well its name says so. */
export interface NamedTarget {
  /** `email`, `external_id`, `full_name`, `ignore` or the name of a property. */
  target: string
  rank: number
}

/** What the name of a column means in a file of any origin; null if it is a property of its own. */
export function usualTarget(header: string): NamedTarget | null {
  if (header.trim() === '__proto__') return { target: 'ignore', rank: OWN }
  return BY_PLAIN_NAME.get(plainHeader(header)) ?? null
}

/** Whether a column is named as one for addresses, also for further ones such as `E-mail 2 - Value` and `E-Mail 2: Adresse`. */
export function isAddressColumn(header: string): boolean {
  return [header.replace(/[2-9]/g, '1'), header.replace(/\d/g, '')].some(
    (name) => usualTarget(name)?.target === 'email',
  )
}

/** A name without case, accents and punctuation: `E-mail 1 - Value` is `email1value`. */
export function plainHeader(header: string): string {
  return shortHeader(header)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Attio writes `Name > First name`, Pipedrive `Person - Email - Work`. */
function shortHeader(header: string): string {
  return header
    .replace(/^.*>/s, '')
    .replace(/^\s*person - /i, '')
    .replace(/[\p{Cf}\p{Cc}]/gu, ' ')
    .trim()
}
