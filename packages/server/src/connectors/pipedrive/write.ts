import type { PropertyValue } from '../../contacts/properties.ts'
import { shown } from '../../platform/characters.ts'
import { isObject } from '../../platform/is-object.ts'
import { ApiRefused, type Client, objectsOf, textOf } from '../client.ts'
import type { OutgoingRecord, WriteBack, WriteResult } from '../connector.ts'
import { personsById, pipedriveText, readCurrent, timeOf } from './current.ts'
import { type Field, type Fields, personFields } from './fields.ts'
import { namesOf, STANDARD_TARGETS, targetValue } from './map.ts'
import { hasId, type Item } from './read.ts'

/** Pipedrive takes one person per request, so what a restart would repeat stays small. */
const BATCH_SIZE = 20
/** Statuses that mean that a person is invalid or gone, not that Pipedrive refuses all of them. */
const STATUSES_OF_PERSONS = [400, 404, 409, 410, 413, 422]
const GONE = [404, 410]
/** The types of custom fields whose values are also values here. A time, an address, an amount or a range has several parts. */
const WRITABLE_TYPES = ['varchar', 'varchar_auto', 'text', 'double', 'date', 'phone', 'enum', 'set']

/**
 * Writes persons one by one: https://developers.pipedrive.com/docs/api/v1/Persons#updatePerson and #addPerson, in API v2. The
 * API takes the name as a whole, lists of phones and emails, and custom fields by their keys, with the ids of their options.
 */
export const pipedriveWriteBack: WriteBack = {
  objects: ['persons'],
  batchSize: BATCH_SIZE,
  readOnly: ['id', 'email', 'emails', 'first_name', 'last_name'],
  reads: ({ property, target }) => property === 'phone' && target === 'phone',
  textOf: pipedriveText,
  fields: async (client) => {
    const fields = [...(await personFields(client))].filter(([, { type }]) => WRITABLE_TYPES.includes(type))
    return new Set([...STANDARD_TARGETS, ...fields.map(([key]) => key)])
  },
  read: readCurrent,
  write: async (client, records) => {
    const fields = await personFields(client)
    const withPhone = records.filter(({ values }) => values.some(({ target }) => target === 'phone'))
    const ids = withPhone.flatMap(({ externalId }) => externalId ?? [])
    const persons = new Map((await personsById(client, ids)).map((item) => [String(item.id), item]))
    const results: WriteResult[] = []
    for (const record of records) {
      results.push(await writePerson(client, record, fields, persons.get(record.externalId ?? '')))
    }
    return results
  },
}

async function writePerson(
  client: Client,
  record: OutgoingRecord,
  fields: Fields,
  current: Item | undefined,
): Promise<WriteResult> {
  const { externalId } = record
  const isNew = externalId === null
  const path = isNew ? '/api/v2/persons' : `/api/v2/persons/${encodeURIComponent(externalId)}`
  try {
    const body = bodyOf(record, fields, current)
    const { data } = await client.call({ method: isNew ? 'POST' : 'PATCH', path, body })
    return isObject(data) && hasId(data) ? written(record, data, fields) : NOT_CONFIRMED
  } catch (error) {
    if (error instanceof UnknownOption) return failed('unknown_option', error.message)
    if (!(error instanceof ApiRefused) || !STATUSES_OF_PERSONS.includes(error.status)) throw error
    return failed(GONE.includes(error.status) ? 'not_found' : 'refused', error.message)
  }
}

const NOT_CONFIRMED: WriteResult = {
  status: 'failed',
  code: 'not_confirmed',
  message: 'Pipedrive did not report whether it stored the contact.',
  isFinal: false,
}

function failed(code: string, message: string): WriteResult {
  return { status: 'failed', code, message, isFinal: true }
}

function written({ externalId, values }: OutgoingRecord, item: Item, fields: Fields): WriteResult {
  const names = externalId === null ? Object.entries(namesOf(item)) : []
  const sent = values.map(({ property, target }) => [property, targetValue(item, fields, target)] as const)
  const stored = new Map<string, PropertyValue | null>([...names, ...sent])
  return { status: 'written', externalId: String(item.id), createdAt: timeOf(item.add_time), stored }
}

/** @throws UnknownOption */
function bodyOf(
  { externalId, email, values, names }: OutgoingRecord,
  fields: Fields,
  current: Item | undefined,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  const custom: Record<string, unknown> = {}
  if (externalId === null) {
    const name = [names.first, names.last].filter((each) => each !== null).join(' ')
    Object.assign(body, { name: name === '' ? email : name, emails: [{ value: email, primary: true, label: 'work' }] })
  }
  for (const { target, value, text } of values) {
    // A person needs a name.
    if (target === 'name' && text === '') continue
    if (target === 'name') body.name = text
    else if (target === 'phone') body.phones = phonesWith(current, text)
    else {
      const field = fields.get(target)
      custom[target] = field ? customValue(field, value, text) : text
    }
  }
  return { ...body, ...(Object.keys(custom).length === 0 ? {} : { custom_fields: custom }) }
}

/** The person's phones with another primary one. Pipedrive replaces the whole list. */
function phonesWith(current: Item | undefined, text: string): object[] {
  const all = objectsOf(current?.phones).filter(({ value }) => textOf(value) !== null)
  const primary = all.find((each) => each.primary === true) ?? all[0]
  const others = all.filter((each) => each !== primary && each.value !== text)
  const [next, ...rest] = others
  if (text === '') return next ? [{ ...next, primary: true }, ...rest] : []
  return [{ label: 'work', ...primary, value: text, primary: true }, ...others]
}

/** A field does not have the option. */
class UnknownOption extends Error {}

function customValue({ name, type, labels }: Field, value: PropertyValue | null, text: string): unknown {
  // An empty list of options is refused.
  if (text === '') return null
  const idOf = (label: string) => {
    const [id] = [...labels].find(([, each]) => each === label) ?? []
    if (id !== undefined) return Number(id)
    throw new UnknownOption(
      `The field ${shown(name)} in Pipedrive has no option “${shown(label)}”. Add it there, or change the value here.`,
    )
  }
  if (type === 'enum') return idOf(text)
  if (type === 'set') {
    return (Array.isArray(value) ? value.map(String) : text.split(';')).map(idOf)
  }
  if (type === 'double') return Number.isFinite(Number(text)) ? Number(text) : text
  // A date field takes no time.
  return type === 'date' ? text.replace(/^(\d{4}-\d\d-\d\d)T.*$/, '$1') : text
}
