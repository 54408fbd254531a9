import Type from 'typebox'
import { parseCompanyDomain } from '../companies/domain.ts'
import { COMPUTED } from '../contacts/computed-names.ts'
import { checkProperties, type PropertyChanges } from '../contacts/properties.ts'
import { ENRICHMENT } from '../contacts/writing/source-records.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { idInput } from '../platform/http/inputs.ts'
import { recordCheck, recordList } from '../platform/http/records.ts'
import { type IgnoredIds, ignoredId, namesNobody, nobodyDetail } from '../platform/ids-of-nobody.ts'
import { isObject } from '../platform/is-object.ts'
import { parseTimestamp } from '../platform/time.ts'
import { CONNECTOR_KINDS } from './connectors.ts'
import { type IncomingRecord, MalformedAddress, recordIn } from './incoming-record.ts'

/** Built-in sources, which pushes cannot use. */
const RESERVED = ['manual', 'form', 'tracker', 'identify', 'import', 'agent', ENRICHMENT, COMPUTED]
export const SOURCE_NAME_LENGTH_MAX = 64
const SOURCE_NAME = new RegExp(`^[a-z0-9][a-z0-9_-]{0,${SOURCE_NAME_LENGTH_MAX - 1}}$`)

const PushedRecord = Type.Object(
  {
    external_id: idInput({ description: "The record's id in the source." }),
    email: Type.Optional(
      Type.Unknown({ description: 'A string; null counts as absent.', examples: ['ada@example.com'] }),
    ),
    properties: Type.Optional(
      Type.Unknown({
        description: 'Key-value properties, as in a contact; null removes one.',
        examples: [{ firstname: 'Ada' }],
      }),
    ),
    raw: Type.Optional(
      Type.Unknown({ description: "The source's record as JSON; stored, and returned only with include=raw." }),
    ),
    updated_at: Type.Optional(
      Type.Unknown({
        description: 'When the record changed in the source (ISO 8601 with an offset). Default: now.',
        examples: ['2026-01-31T08:00:00.000Z'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** Body of POST /v1/sources/:source/contacts. */
export const PUSH_FIELDS = {
  kind: Type.Optional(
    Type.Enum([...CONNECTOR_KINDS], {
      description: 'The kind of source. It is remembered; the default is crm.',
    }),
  ),
  records: recordList(PushedRecord),
}

export const PUSH_EXAMPLE = {
  kind: 'crm',
  records: [
    {
      external_id: '701',
      email: 'ada@example.com',
      properties: { firstname: 'Ada', company: 'Analytical Engines', company_domain: 'analytical.example' },
      updated_at: '2026-01-31T08:00:00.000Z',
    },
  ],
}

/** @throws ServiceError 400 for a name that a connected source cannot have. */
export function parseSourceName(source: string): string {
  if (RESERVED.includes(source)) {
    throw validationError([{ path: 'source', message: `is a reserved source name (${RESERVED.join(', ')})` }])
  }
  if (!SOURCE_NAME.test(source)) {
    const message = `must be 1 to ${SOURCE_NAME_LENGTH_MAX} characters of a to z, 0 to 9, _ and -, and begin with a letter or digit`
    throw validationError([{ path: 'source', message }])
  }
  return source
}

const checkRecord = recordCheck(PushedRecord)

/** Validates a record. @returns the record, or its error. */
export function parseRecord(sent: unknown): IncomingRecord | ServiceError {
  const details = checkRecord(sent)
  if (details.length > 0) return validationError(details)
  const record = sent as Type.Static<typeof PushedRecord>
  const isValid = (record.properties ?? null) === null || isObject(record.properties)
  if (!isValid) details.push({ path: 'properties', message: 'must be an object' })
  const { email: sameEmail, ...properties } = isObject(record.properties) ? record.properties : {}
  const ownEmail = record.email ?? undefined
  const sentEmail = ownEmail ?? sameEmail ?? null
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== null && email === null) {
    const path = ownEmail === undefined ? 'properties.email' : 'email'
    details.push({ path, message: 'is not a valid email address' })
  }
  const isSame = typeof sameEmail === 'string' && parseEmail(sameEmail) === email
  if (ownEmail !== undefined && (sameEmail ?? null) !== null && !isSame) {
    details.push({ path: 'properties.email', message: 'must equal email, or be omitted' })
  }
  details.push(...checkProperties(properties))
  const { domain, detail } = parseCompany(properties.company_domain)
  if (detail) details.push(detail)
  const changedAt = record.updated_at ?? undefined
  const at = typeof changedAt === 'string' ? parseTimestamp(changedAt) : null
  if (changedAt !== undefined && at === null) {
    details.push({ path: 'updated_at', message: 'must be an ISO 8601 timestamp with an offset, or a date' })
  }
  const parsed = {
    externalId: record.external_id,
    email,
    properties: properties as PropertyChanges,
    raw: record.raw,
    at,
    companyDomain: domain,
  }
  if (details.length === 0) return parsed
  const isForAddress = details.every(({ path }) => path === 'email' || path === 'properties.email')
  return isForAddress ? new MalformedAddress(validationError(details), parsed) : validationError(details)
}

/**
 * A record without an id that names nobody; if it has no email either, the record fails.
 * @param warnings gets that the id was ignored.
 */
export function namedRecord(
  record: IncomingRecord | ServiceError,
  ignored: IgnoredIds,
  warnings: string[],
): IncomingRecord | ServiceError {
  const externalId = recordIn(record)?.externalId ?? null
  if (externalId === null || !namesNobody(externalId, ignored)) return record
  if (record instanceof ServiceError) return new ServiceError(record.status, record.code, record.message)
  if (record.email === null) return validationError([nobodyDetail('external_id', externalId)])
  warnings.push(ignoredId('external_id', externalId))
  return { ...record, externalId: null }
}

/** The domain in the property `company_domain`, or its error. */
export function parseCompany(value: unknown): { domain: string | null; detail?: ErrorDetail } {
  if (value === undefined || value === null || value === '') return { domain: null }
  const domain = typeof value === 'string' ? parseCompanyDomain(value) : null
  if (domain !== null) return { domain }
  return { domain, detail: { path: 'properties.company_domain', message: 'is not a domain like example.com' } }
}
