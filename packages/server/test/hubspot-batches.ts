import type { SystemResponse } from './connected-system.ts'
import { type HubSpotRecord, type HubSpotRecords, type ObjectType, Refused, shown } from './hubspot-records.ts'

/** The endpoints of the HubSpot that tests play which take up to 100 inputs, each of which may fail alone. */

export const NEW_YEAR = '2026-01-01T00:00:00.000Z'

type Body = Record<string, unknown>
type Input = { id: string; idProperty?: string; properties?: Record<string, string>; objectWriteTraceId?: string }

const batch = (results: unknown[], errors: unknown[] = []): SystemResponse => {
  const times = { startedAt: NEW_YEAR, completedAt: NEW_YEAR, requestedAt: NEW_YEAR }
  const failed = errors.length > 0 ? { numErrors: errors.length, errors } : {}
  return { status: errors.length > 0 ? 207 : 200, body: { status: 'COMPLETE', results, ...times, ...failed } }
}

function inputsOf(body: Body): Input[] {
  const inputs = (body.inputs ?? []) as Input[]
  if (inputs.length > 100) throw new Refused('VALIDATION_ERROR', 'at most 100 inputs')
  return inputs
}

/** Finds records by their ids, or contacts by `idProperty: email`. What does not exist is an error of its input. */
export function readBatch(records: HubSpotRecords, type: string, body: Body): SystemResponse {
  const {
    properties = [],
    propertiesWithHistory = [],
    idProperty,
  } = body as { properties?: string[]; propertiesWithHistory?: string[]; idProperty?: string }
  if (idProperty !== undefined && idProperty !== 'email')
    throw new Refused('VALIDATION_ERROR', `${idProperty} is not a unique property`)
  const inputs = inputsOf(body).map(({ id }) => ({
    id,
    record: idProperty === 'email' ? records.byEmail(id) : records.find(type, id),
  }))
  const found = new Set(inputs.flatMap(({ record }) => record ?? []))
  const missing = inputs.filter(({ record }) => record === undefined).map(({ id }) => id)
  const error = {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    message: `Could not get some ${type} objects, they may be deleted or not exist. Check that ids are valid.`,
    context: { ids: missing },
  }
  if (propertiesWithHistory.length > 0 && inputs.length > 50)
    throw new Refused('VALIDATION_ERROR', 'at most 50 inputs with the history of properties')
  const results = [...found].map((record) => ({
    ...shown(record, properties),
    ...(propertiesWithHistory.includes('dealstage')
      ? { propertiesWithHistory: { dealstage: record.stages ?? [] } }
      : {}),
  }))
  return batch(results, missing.length === 0 ? [] : [error])
}

export function readAssociations(records: HubSpotRecords, from: string, to: string, body: Body): SystemResponse {
  const pages = inputsOf(body).map(({ id }) => ({ id, to: records.associated(from, id, to) }))
  const missing = pages.filter((page) => page.to.length === 0)
  const results = pages
    .filter((page) => page.to.length > 0)
    .map((page) => ({
      from: { id: page.id },
      to: page.to.map((id) => ({
        toObjectId: Number(id),
        associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 1, label: null }],
      })),
    }))
  const errors = missing.map(({ id }) => ({
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
    message: `No ${to} is associated with ${from} ${id}.`,
    context: { fromObjectId: [id] },
  }))
  return batch(results, errors)
}

export function writeBatch(
  { records, isMultiStatus }: { records: HubSpotRecords; isMultiStatus: boolean },
  type: ObjectType,
  verb: string,
  body: Body,
): SystemResponse {
  const results: unknown[] = []
  const errors: unknown[] = []
  const inputs = inputsOf(body)
  const toleratesFailures = isMultiStatus && inputs.every(({ objectWriteTraceId }) => objectWriteTraceId !== undefined)
  for (const { id, idProperty, properties = {}, objectWriteTraceId } of inputs) {
    try {
      if (verb === 'batch/upsert' && idProperty !== 'email')
        throw new Refused('VALIDATION_ERROR', 'Unable to perform update/upsert by non-unique property')
      const known = verb === 'batch/update' ? id : records.byEmail(id)?.id
      const written = known === undefined ? records.create(type, { ...properties, email: id }) : known
      const record = known === undefined ? records.find(type, written) : records.change(type, known, properties)
      const shownRecord = shown(record as HubSpotRecord, Object.keys(properties))
      results.push({
        ...shownRecord,
        ...(verb === 'batch/upsert' ? { new: known === undefined } : {}),
        ...(objectWriteTraceId === undefined ? {} : { objectWriteTraceId }),
      })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const isMissing = error.category === 'OBJECT_NOT_FOUND'
      if (!toleratesFailures && !isMissing) throw error
      const context = isMissing ? { ids: [id] } : { objectWriteTraceId: [objectWriteTraceId] }
      errors.push({ status: 'error', category: error.category, message: error.message, context, errors: [], links: {} })
    }
  }
  return batch(results, errors)
}
