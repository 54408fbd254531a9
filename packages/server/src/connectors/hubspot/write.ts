import type { PropertyValue } from '../../contacts/properties.ts'
import { normalizeEmail } from '../../platform/email.ts'
import { isObject } from '../../platform/is-object.ts'
import { type ApiRefused, objectsOf, textOf } from '../client.ts'
import type { OutgoingRecord, WriteBack, WriteResult } from '../connector.ts'
import { sendBatch } from '../write-back/batches.ts'
import { itemsOf, readTypes } from './api.ts'
import { readCurrent } from './current.ts'
import { hubspotText, READ_ONLY, readsUsually, readValue, timeOf } from './map.ts'

const BATCH_SIZE = 100
/** Sending the same record again would fail again. */
const FINAL = ['VALIDATION_ERROR', 'OBJECT_NOT_FOUND', 'CONFLICT', 'DUPLICATE_UNIQUE_PROPERTY_VALUE']

/**
 * Writes contacts in batches: known contacts by id, others by email. A batch may fail in part (207, with the failed inputs in
 * `errors`). One invalid input may also fail the whole batch.
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/batch and …/error-handling#multi-status-errors
 */
export const hubspotWriteBack: WriteBack = {
  objects: ['contacts'],
  batchSize: BATCH_SIZE,
  readOnly: READ_ONLY,
  reads: readsUsually,
  textOf: hubspotText,
  fields: async (client) => new Set((await readTypes(client)).keys()),
  read: readCurrent,
  write: async (client, records) => {
    const isStandard = records.every(({ values }) => values.every(readsUsually))
    const types = isStandard ? new Map<string, string>() : await readTypes(client)
    const results = new Map<OutgoingRecord, WriteResult>()
    const known = records.filter(({ externalId }) => externalId !== null)
    const unknown = records.filter(({ externalId }) => externalId === null)
    const send = (verb: 'update' | 'upsert') => async (some: readonly OutgoingRecord[]) => {
      const inputs = some.map((record, index) => inputOf(verb, record, index))
      const response = await client.call({ path: `/crm/v3/objects/contacts/batch/${verb}`, body: { inputs } })
      noteResponse(response, some, types, results)
    }
    const refuse = (record: OutgoingRecord, { body, message }: ApiRefused) => {
      results.set(record, failed(isObject(body) ? textOf(body.category) : null, message))
    }
    await sendBatch(known, send('update'), refuse)
    await sendBatch(unknown, send('upsert'), refuse)
    return records.map((record) => results.get(record) ?? NOT_CONFIRMED)
  },
}

const NOT_CONFIRMED: WriteResult = {
  status: 'failed',
  code: 'not_confirmed',
  message: 'HubSpot did not report whether it stored the contact.',
  isFinal: false,
}

type Types = ReadonlyMap<string, string>

function inputOf(verb: 'update' | 'upsert', { externalId, email, values }: OutgoingRecord, index: number) {
  const properties = Object.fromEntries(values.map(({ target, text }) => [target, text]))
  const objectWriteTraceId = String(index)
  return verb === 'update'
    ? { id: externalId, properties, objectWriteTraceId }
    : { id: email, idProperty: 'email', properties: { ...properties, email }, objectWriteTraceId }
}

/** Results and errors identify their input by trace id, id or email. */
function noteResponse(
  response: Record<string, unknown>,
  records: readonly OutgoingRecord[],
  types: Types,
  results: Map<OutgoingRecord, WriteResult>,
): void {
  for (const item of itemsOf(response.results)) {
    const trace = textOf(item.objectWriteTraceId)
    const record =
      trace === null
        ? (byKey(records, item.id) ?? byKey(records, normalizeEmail(textOf(item.properties.email) ?? '')))
        : records[Number(trace)]
    if (!record) continue
    // HubSpot may store a different value than was sent: it reformats numbers, and workflows change values.
    const stored = new Map<string, PropertyValue | null>(
      record.values.map(({ property, target, text }) => {
        const current = Object.hasOwn(item.properties, target) ? item.properties[target] : text
        return [property, readValue(target, current, types)]
      }),
    )
    results.set(record, { status: 'written', externalId: item.id, createdAt: timeOf(item.createdAt), stored })
  }
  const open: WriteResult[] = []
  for (const error of objectsOf(response.errors)) {
    const result = failed(textOf(error.category), textOf(error.message) ?? 'HubSpot refused the contact.')
    const context = isObject(error.context) ? error.context : {}
    const traces = textsOf(context.objectWriteTraceId)
    const keys = [...textsOf(context.ids), ...textsOf(context.id), ...textsOf(context.email), textOf(error.id)]
    const about = [
      ...traces.flatMap((trace) => records[Number(trace)] ?? []),
      ...(traces.length > 0 ? [] : keys.flatMap((key) => (key === null ? [] : (byKey(records, key) ?? [])))),
    ]
    for (const record of about) results.set(record, result)
    if (about.length === 0) open.push(result)
  }
  // An error that identifies no input applies to the inputs without a result.
  const [first] = open
  for (const record of records) if (first && !results.has(record)) results.set(record, first)
}

function byKey(records: readonly OutgoingRecord[], key: string): OutgoingRecord | undefined {
  return records.find(({ externalId, email }) => externalId === key || email === key)
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((each) => textOf(each) ?? [])
}

function failed(category: string | null, message: string): WriteResult {
  const code = category === null ? 'refused' : category.toLowerCase()
  return { status: 'failed', code, message, isFinal: category !== null && FINAL.includes(category) }
}
