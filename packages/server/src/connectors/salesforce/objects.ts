import { ServiceError } from '../../platform/errors.ts'
import { ApiRefused, textOf } from '../client.ts'
import type { ConnectorObject, RecordsPage } from '../connector.ts'
import { fieldsOf } from './fields.ts'
import { fieldOf, toAccount, toContact, toEvent, toLead, toTask } from './map.ts'
import { readOpportunities } from './opportunities.ts'
import { type ObjectPlan, readObject } from './read.ts'

/** A query may find a change slightly late. */
const OVERLAP_SECONDS = 300

const PERSON = ['FirstName', 'LastName', 'Email', 'Phone', 'MobilePhone', 'Title', 'LeadSource', 'Owner.Name']
const CONSENT = ['HasOptedOutOfEmail', 'DoNotCall', 'EmailBouncedDate', 'EmailBouncedReason']
const COMPANY = ['Website', 'Industry', 'NumberOfEmployees', 'AnnualRevenue']

const ACCOUNTS: ObjectPlan = {
  sobject: 'Account',
  fields: ['Name', 'Type', 'Phone', ...COMPANY, 'BillingCity', 'BillingState', 'BillingCountry', 'Owner.Name'],
  // A person account also has a contact, which is read instead.
  where: ({ types }) => (types.has('IsPersonAccount') ? 'IsPersonAccount = false' : null),
  page: (records, fields) => ({ companies: records.map((record) => toAccount(record, fields)) }),
  deleted: { hasMaster: true, page: (records) => ({ deletedCompanies: records.map(({ id }) => id) }) },
}

const MERGED_OR_DELETED: ObjectPlan['deleted'] = {
  hasMaster: true,
  page: (records) => ({
    merged: records.flatMap(({ id, master }) => (master === null ? [] : { from: id, into: master })),
    // Includes merges whose surviving record is not here.
    deleted: records.map(({ id }) => id),
  }),
}

const CONTACTS: ObjectPlan = {
  sobject: 'Contact',
  fields: [...PERSON, ...CONSENT, 'Department', 'AccountId', 'MailingCity', 'MailingState', 'MailingCountry'],
  where: () => null,
  page: (records, fields) => ({ contacts: records.map((record) => toContact(record, fields)) }),
  deleted: MERGED_OR_DELETED,
}

const LEADS: ObjectPlan = {
  sobject: 'Lead',
  fields: [
    ...PERSON,
    ...CONSENT,
    ...COMPANY,
    'Company',
    'Status',
    'Rating',
    'City',
    'State',
    'Country',
    'IsConverted',
    'ConvertedContactId',
  ],
  where: () => null,
  page: (records, fields, until) => {
    const open = records.filter(({ IsConverted }) => IsConverted !== true)
    // If a lead was converted later, its contact is not here yet.
    const converted = records.filter((record) => record.IsConverted === true && isBefore(record.SystemModstamp, until))
    return {
      contacts: open.map((record) => toLead(record, fields)),
      merged: converted.flatMap(({ Id, ConvertedContactId: into }) =>
        typeof into === 'string' ? { from: String(Id), into } : [],
      ),
    }
  },
  deleted: MERGED_OR_DELETED,
}

const TASKS: ObjectPlan = {
  sobject: 'Task',
  fields: [
    'Subject',
    'Type',
    'TaskSubtype',
    'Status',
    'Description',
    'ActivityDate',
    'CompletedDateTime',
    'CallDurationInSeconds',
    'CallDisposition',
    'WhoId',
    'WhatId',
    'LastModifiedDate',
    'Owner.Name',
  ],
  isArchived: true,
  required: ['IsClosed', 'WhoId'],
  where: () => 'IsClosed = true AND WhoId != null',
  page: (records) => ({
    calls: records.map((record) => ({
      ...toTask(record),
      activity: { id: String(record.Id), subject: textOf(record.Subject) },
    })),
  }),
}

const EVENTS: ObjectPlan = {
  sobject: 'Event',
  fields: [
    'Subject',
    'Type',
    'Description',
    'Location',
    'StartDateTime',
    'EndDateTime',
    'WhoId',
    'WhatId',
    'Owner.Name',
  ],
  isArchived: true,
  timeField: 'StartDateTime',
  required: ['IsPrivate', 'WhoId'],
  where: () => 'IsPrivate = false AND WhoId != null',
  page: (records) => ({ calls: records.map(toEvent) }),
}

const OPPORTUNITIES: ObjectPlan = {
  sobject: 'Opportunity',
  fields: [
    'Name',
    'StageName',
    'Amount',
    'CurrencyIsoCode',
    'IsClosed',
    'IsWon',
    'CreatedDate',
    'LastStageChangeDate',
    'LastModifiedDate',
  ],
  refersToOthers: true,
  where: () => null,
  page: async (records, _fields, _until, client) => {
    const calls = await readOpportunities(client, records)
    return calls ?? notVisible(OPPORTUNITIES, 'OpportunityContactRole')
  },
}

const objectOf = (name: string, plan: ObjectPlan, needs: readonly string[] = []): ConnectorObject => ({
  name,
  needs,
  overlapSeconds: OVERLAP_SECONDS,
  read: async (client, range) => {
    const { sobject, required = [] } = plan
    const fields = await fieldsOf(client, sobject)
    if (fields === null) return notVisible(plan, sobject)
    const hidden = required.find((field) => !fields.types.has(field))
    if (hidden !== undefined) return notVisible(plan, `${sobject}.${hidden}`)
    const pairs = plan === CONTACTS || plan === LEADS ? range.pairs : []
    const own = pairs.map(({ property, target }) => ({ property, target: fieldOf(sobject, target) }))
    return readObject(client, range, plan, { ...fields, pairs: own })
  },
})

/** Contacts come before the leads that were converted into them, and both come before what refers to them. */
export const OBJECTS: readonly ConnectorObject[] = [
  objectOf('accounts', ACCOUNTS),
  objectOf('contacts', CONTACTS),
  objectOf('leads', LEADS, ['contacts']),
  objectOf('opportunities', OPPORTUNITIES, ['contacts']),
  objectOf('tasks', TASKS, ['contacts', 'leads']),
  objectOf('events', EVENTS, ['contacts', 'leads']),
]

/**
 * An error for the list, so that the missing records are noticed. Contacts are refused instead: the other records refer to
 * them, and must wait until they are visible.
 * @param hidden the object, or a field of it
 */
function notVisible(plan: ObjectPlan, hidden: string): RecordsPage {
  const { sobject } = plan
  const problem = `The user who signed in cannot see ${hidden}, so no ${sobject} records were read. Add the permission to the user's profile`
  if (plan === CONTACTS) throw new ApiRefused(403, `${problem}.`)
  const message = `${problem}, then read everything again, or ignore this error.`
  return { calls: [{ id: hidden, call: new ServiceError(403, 'object_not_visible', message) }], next: null }
}

function isBefore(time: unknown, until: Date): boolean {
  return typeof time === 'string' && Date.parse(time) < until.getTime()
}
