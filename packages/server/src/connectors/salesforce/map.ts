import type { SourceCompany } from '../../companies/source-companies.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { EMPTY_CALL } from '../../sites/ingestion/call.ts'
import { textOf } from '../client.ts'
import type { ContactRecord, Pair, SourceCall } from '../connector.ts'
import type { PageFields } from './fields.ts'
import type { SalesforceRecord } from './query.ts'

const TEXT_LENGTH_MAX = 2_000

/** The property of each field. */
const OF_PERSON = {
  FirstName: 'firstname',
  LastName: 'lastname',
  Phone: 'phone',
  MobilePhone: 'mobile_phone',
  Title: 'jobtitle',
  LeadSource: 'lead_source',
  HasOptedOutOfEmail: 'has_opted_out_of_email',
  DoNotCall: 'do_not_call',
  EmailBouncedDate: 'email_bounced_date',
  EmailBouncedReason: 'email_bounced_reason',
  'Owner.Name': 'salesforce_owner',
}
const OF_COMPANY = { Industry: 'industry', NumberOfEmployees: 'numberofemployees', AnnualRevenue: 'annualrevenue' }
const OF_CONTACT = {
  ...OF_PERSON,
  Department: 'department',
  MailingCity: 'city',
  MailingState: 'state',
  MailingCountry: 'country',
}
const OF_LEAD = {
  ...OF_PERSON,
  ...OF_COMPANY,
  Company: 'company',
  Website: 'website',
  Status: 'lead_status',
  Rating: 'lead_rating',
  City: 'city',
  State: 'state',
  Country: 'country',
}
const OF_ACCOUNT = {
  ...OF_COMPANY,
  Type: 'account_type',
  Phone: 'phone',
  BillingCity: 'city',
  BillingState: 'state',
  BillingCountry: 'country',
  'Owner.Name': 'salesforce_owner',
}

/** The fields of leads for the targets of contacts, where the names differ. */
const TARGETS_OF_LEADS: Readonly<Record<string, string>> = {
  MailingStreet: 'Street',
  MailingCity: 'City',
  MailingState: 'State',
  MailingPostalCode: 'PostalCode',
  MailingCountry: 'Country',
  MailingStateCode: 'StateCode',
  MailingCountryCode: 'CountryCode',
}

/** The field of an object for a target, which is a field of contacts. */
export function fieldOf(sobject: string, target: string): string {
  const isOther = sobject === 'Lead' && Object.hasOwn(TARGETS_OF_LEADS, target)
  return (isOther ? TARGETS_OF_LEADS[target] : undefined) ?? target
}

/** Whether the property is read from the target by default. */
export function readsUsually({ property, target }: Pair): boolean {
  const standard = new Map(Object.entries(OF_CONTACT)).get(target)
  return (standard ?? (target.endsWith('__c') ? propertyOf(target) : undefined)) === property
}

export function toAccount(record: SalesforceRecord, fields: PageFields): SourceCompany {
  const properties = propertiesOf(record, OF_ACCOUNT, fields)
  return { externalId: String(record.Id), domain: textOf(record.Website), name: textOf(record.Name), properties }
}

export function toContact(record: SalesforceRecord, fields: PageFields): ContactRecord {
  return { ...personOf(record, OF_CONTACT, fields), company_id: textOf(record.AccountId) }
}

export function toLead(record: SalesforceRecord, fields: PageFields): ContactRecord {
  return personOf(record, OF_LEAD, fields)
}

/** Maps a completed task to an event of its person. */
export function toTask(record: SalesforceRecord): SourceCall {
  const day = textOf(record.ActivityDate)
  const due = day === null ? null : `${day}T00:00:00Z`
  const at = textOf(record.CompletedDateTime) ?? due ?? textOf(record.LastModifiedDate)
  return callOf('salesforce_task', record, at, {
    task_id: record.Id,
    task_type: textOf(record.Type) ?? textOf(record.TaskSubtype),
    status: record.Status,
    call_seconds: record.CallDurationInSeconds,
    call_result: record.CallDisposition,
  })
}

export function toEvent(record: SalesforceRecord): SourceCall {
  return callOf('salesforce_event', record, textOf(record.StartDateTime), {
    event_id: record.Id,
    event_type: record.Type,
    location: record.Location,
    ends_at: record.EndDateTime,
  })
}

function callOf(name: string, record: SalesforceRecord, at: string | null, more: Record<string, unknown>): SourceCall {
  const description = textOf(record.Description)
  const fields = {
    ...more,
    subject: record.Subject,
    description: description === null ? null : firstCharacters(description, TEXT_LENGTH_MAX),
    related_to: record.WhatId,
    owner: record['Owner.Name'],
  }
  const data = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
  const event = {
    event: name,
    timestamp: at ?? undefined,
    data,
    sentId: null,
    sessionId: null,
    context: {},
    clockCorrection: 0,
  }
  return { id: String(record.Id), contact: String(record.WhoId), call: { ...EMPTY_CALL, event } }
}

function personOf(
  record: SalesforceRecord,
  names: Readonly<Record<string, string>>,
  fields: PageFields,
): ContactRecord {
  const changedAt = textOf(record.SystemModstamp)
  return {
    external_id: String(record.Id),
    email: textOf(record.Email),
    properties: propertiesOf(record, names, fields),
    raw: record,
    ...(changedAt === null ? {} : { updated_at: changedAt }),
  }
}

/** Fields that the user may not see are absent from the record, and their properties do not change. */
function propertiesOf(
  record: SalesforceRecord,
  names: Readonly<Record<string, string>>,
  { custom, pairs }: PageFields,
): Record<string, unknown> {
  const standard = Object.entries(names).map(([field, property]) => [field, property] as const)
  const own = custom.map((field) => [field, propertyOf(field)] as const)
  const usual = [...standard, ...own].filter(([field, property]) =>
    pairs.every((pair) => pair.property !== property && pair.target !== field),
  )
  const written = pairs.map(({ target, property }) => [target, property] as const)
  const present = [...usual, ...written].filter(([field]) => Object.hasOwn(record, field))
  return Object.fromEntries(present.map(([field, property]) => [property, record[field]]))
}

/** The property of a custom field. */
function propertyOf(field: string): string {
  return `salesforce_${field.replace(/__c$/, '').toLowerCase()}`
}
