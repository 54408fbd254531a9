import type { PropertyValue } from '../../contacts/properties.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { isObject } from '../../platform/is-object.ts'
import { type ApiRefused, type Client, objectsOf, textOf } from '../client.ts'
import type { OutgoingRecord, Settings, WriteBack, WriteResult } from '../connector.ts'
import { sendBatch } from '../write-back/batches.ts'
import { type Person, personOfId, readCurrent, salesforceText, selectPeople, timeOf } from './current.ts'
import { fieldsOf, type ObjectFields } from './fields.ts'
import { fieldOf, readsUsually } from './map.ts'
import { DATA, type SalesforceRecord } from './query.ts'

/** The most records that sObject Collections take in a request. */
const BATCH_SIZE = 200
const COLLECTIONS = `${DATA}/composite/sobjects`
/** Sending the same record again would fail again. */
const FINAL = [
  'CANNOT_UPDATE_CONVERTED_LEAD',
  'DUPLICATES_DETECTED',
  'DUPLICATE_VALUE',
  'ENTITY_IS_DELETED',
  'FIELD_CUSTOM_VALIDATION_EXCEPTION',
  'FIELD_INTEGRITY_EXCEPTION',
  'INVALID_CROSS_REFERENCE_KEY',
  'INVALID_EMAIL_ADDRESS',
  'INVALID_FIELD_FOR_INSERT_UPDATE',
  'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
  'INVALID_TYPE_ON_FIELD_IN_RECORD',
  'JSON_PARSER_ERROR',
  'MALFORMED_ID',
  'NUMBER_OUTSIDE_VALID_RANGE',
  'REQUIRED_FIELD_MISSING',
  'STRING_TOO_LONG',
]
const NUMBERS = ['int', 'double', 'currency', 'percent', 'long']
/** Salesforce requires a last name, and of a lead a company. The text for an unknown company is the one of its own web forms. */
const NO_COMPANY = '[not provided]'
const LENGTHS = { FirstName: 40, LastName: 80, Company: 255 }
const PROPERTIES_OF_NAMES = { FirstName: 'firstname', LastName: 'lastname', Company: 'company' }

/**
 * Writes contacts and leads with sObject Collections, which report each record on its own, and then reads them: triggers and
 * formats may change what was sent.
 * https://developer.salesforce.com/docs/platform/api-rest/guide/resources-composite-sobjects-collections-update.html and
 * …/resources-composite-sobjects-collections-create.html
 */
export const salesforceWriteBack: WriteBack = {
  objects: ['contacts', 'leads'],
  batchSize: BATCH_SIZE,
  readOnly: ['Id', 'Email'],
  reads: readsUsually,
  textOf: salesforceText,
  fields: async (client) => (await fieldsOf(client, 'Contact'))?.writable ?? new Set(),
  read: readCurrent,
  write: async (client, records, { create_as }: Settings) => {
    const newPerson: Person = create_as === 'lead' ? 'Lead' : 'Contact'
    const results = new Map<OutgoingRecord, WriteResult>()
    const groups = Map.groupBy(records, ({ externalId }) => (externalId === null ? newPerson : personOfId(externalId)))
    for (const [person, some] of groups) await writePeople(client, person, some, results)
    return records.map((record) => results.get(record) ?? NOT_CONFIRMED)
  },
}

const NOT_CONFIRMED: WriteResult = {
  status: 'failed',
  code: 'not_confirmed',
  message: 'Salesforce did not report whether it stored the contact.',
  isFinal: false,
}

async function writePeople(
  client: Client,
  person: Person,
  records: readonly OutgoingRecord[],
  results: Map<OutgoingRecord, WriteResult>,
): Promise<void> {
  const fields = await fieldsOf(client, person)
  if (fields === null) {
    for (const record of records) results.set(record, failed('OBJECT_NOT_VISIBLE', `The user cannot see ${person}.`))
    return
  }
  const savedIds = new Map<OutgoingRecord, string>()
  const send = (method: 'PATCH' | 'POST') => async (some: readonly OutgoingRecord[]) => {
    const inputs = some.map((record) => inputOf(person, record, fields))
    const saved = await client.callList({ method, path: COLLECTIONS, body: { allOrNone: false, records: inputs } })
    for (const [index, record] of some.entries()) {
      const { success, id, errors } = isObject(saved[index]) ? saved[index] : {}
      const savedId = success === true ? (textOf(id) ?? record.externalId) : null
      const [error] = objectsOf(errors)
      if (savedId !== null) savedIds.set(record, savedId)
      else if (error) results.set(record, failed(textOf(error.statusCode), textOf(error.message)))
    }
  }
  const refuse = (record: OutgoingRecord, { body, message }: ApiRefused) => {
    const [error = {}] = objectsOf(body)
    results.set(record, failed(textOf(error.errorCode), message))
  }
  const [known, unknown] = [
    records.filter(({ externalId }) => externalId !== null),
    records.filter(({ externalId }) => externalId === null),
  ]
  await sendBatch(known, send('PATCH'), refuse)
  await sendBatch(unknown, send('POST'), refuse)
  const targets = new Set([...savedIds.keys()].flatMap(({ values }) => values.map(({ target }) => target)))
  const names = unknown.length === 0 ? [] : Object.keys(PROPERTIES_OF_NAMES)
  const keys = [...new Set(savedIds.values())]
  const stored = await selectPeople(client, person, [...targets, ...names], { field: 'Id', keys })
  const byId = new Map(stored.map((each) => [String(each.Id), each]))
  for (const [record, externalId] of savedIds) {
    const now = byId.get(externalId)
    // It was deleted in the meantime.
    if (!now) continue
    results.set(record, {
      status: 'written',
      externalId,
      createdAt: timeOf(now.CreatedDate),
      stored: storedValues(person, record, now),
    })
  }
}

/** What a record has for the values that were sent, and, if it was just created, its names. */
function storedValues(
  person: Person,
  { externalId, values }: OutgoingRecord,
  now: SalesforceRecord,
): Map<string, PropertyValue | null> {
  const sent = values.map(({ property, target }) => [property, now[fieldOf(person, target)] ?? null] as const)
  const names = externalId === null ? Object.entries(PROPERTIES_OF_NAMES) : []
  return new Map([...names.map(([field, property]) => [property, now[field] ?? null] as const), ...sent])
}

function inputOf(
  person: Person,
  { externalId, email, values, names }: OutgoingRecord,
  { types, writable }: ObjectFields,
): Record<string, unknown> {
  const sent = values.flatMap(({ target, text }) => {
    const field = fieldOf(person, target)
    // A lead does not have every field of a contact.
    return writable.has(field) ? [[field, jsonOf(types.get(field), text)] as const] : []
  })
  const attributes = { type: person }
  if (externalId !== null) return { attributes, id: externalId, ...Object.fromEntries(sent) }
  const { first, last, company } = names
  const required = {
    ...(first === null ? {} : { FirstName: first }),
    LastName: last ?? email?.split('@')[0] ?? '',
    ...(person === 'Lead' ? { Company: company ?? NO_COMPANY } : {}),
  }
  const short = Object.entries(required).map(
    ([field, text]) => [field, firstCharacters(text, LENGTHS[field as keyof typeof LENGTHS])] as const,
  )
  return { attributes, ...Object.fromEntries([...short, ...sent]), Email: email }
}

/** A value as JSON of its field's type. One that does not fit stays a text, which Salesforce refuses. */
function jsonOf(type: string | undefined, text: string): string | number | boolean | null {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' || text === '' ? false : text
  if (text === '') return null
  if (type !== undefined && NUMBERS.includes(type)) return Number.isFinite(Number(text)) ? Number(text) : text
  // A date field takes no time.
  return type === 'date' ? text.replace(/^(\d{4}-\d\d-\d\d)T.*$/, '$1') : text
}

function failed(code: string | null, message: string | null): WriteResult {
  return {
    status: 'failed',
    code: code === null ? 'refused' : code.toLowerCase(),
    message: message ?? 'Salesforce refused the contact.',
    isFinal: code !== null && FINAL.includes(code),
  }
}
