import type { SystemRequest, SystemResponse } from './connected-system.ts'
import { COMMON, READ_ONLY, REQUIRED, TYPES } from './salesforce-fields.ts'
import { matches, parseSoql, type Soql } from './soql.ts'

type Value = string | number | boolean | null
type SalesforceObject = Record<string, Value> & { Id: string; SystemModstamp: string }

const VERSION = '/services/data/v62.0'
const LIMIT_EXCEEDED = { errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }

/** A record of a collection. */
type Sent = Record<string, Value> & { attributes: { type: string }; id?: string }

interface Job {
  soql: Soql
  isAll: boolean
  state: string
  /** How often its state is asked for until it is complete. */
  polls: number
}

/**
 * The REST API, the queries of Bulk API 2.0 and the token endpoint of one organization, as the REST API Developer Guide
 * and the Bulk API 2.0 Developer Guide document them.
 */
export class SalesforceOrganization {
  readonly records: Record<string, SalesforceObject[]> = {
    Organization: [record('00D000000000001EAA', { Name: 'Analytical Engines' })],
    Account: [],
    Contact: [],
    Lead: [],
    Opportunity: [],
    OpportunityContactRole: [],
    OpportunityHistory: [],
    OpportunityStage: [
      record(idOf('01J', 1), { ApiName: 'Prospecting', MasterLabel: 'Prospecting', IsClosed: false }),
      record(idOf('01J', 2), { ApiName: 'Proposal', MasterLabel: 'Proposal/Price Quote', IsClosed: false }),
      record(idOf('01J', 3), { ApiName: 'Closed Won', MasterLabel: 'Closed Won', IsClosed: true }),
      record(idOf('01J', 4), { ApiName: 'Closed Lost', MasterLabel: 'Closed Lost', IsClosed: true }),
    ],
    Task: [],
    Event: [],
  }
  /** Objects that the user may not see. */
  hidden: string[] = []
  /** Fields that field-level security hides from the user, like `Event.IsPrivate`. */
  hiddenFields: string[] = []
  /** Smaller than Salesforce allows, so that a few records need several pages. */
  pageSize = 2_000
  /** How often the state of a new job is asked for until it is complete; null: it fails. */
  pollsOfJobs: number | null = 0
  readonly jobs = new Map<string, Job>()
  /** What a trigger makes of a value that is saved. */
  stored = (_field: string, value: Value): Value => value
  /** A validation rule: the error of a record that it refuses. */
  problemOf = (_record: Record<string, Value>): string | null => null
  isLimited = false
  usage = '18/15000'
  accessToken = ''
  refreshToken = ''
  instanceUrl = 'https://engines.my.salesforce.com'
  readonly #queries = new Map<string, SalesforceObject[]>()
  #numbers = 0

  respond(request: SystemRequest): SystemResponse {
    const { path, method } = request
    if (path === '/services/oauth2/token') return this.#issue(request)
    if (this.accessToken === '' || request.headers.authorization !== `Bearer ${this.accessToken}`) {
      return refused(401, { errorCode: 'INVALID_SESSION_ID', message: 'Session expired or invalid' })
    }
    if (this.isLimited) return refused(403, LIMIT_EXCEEDED)
    const { status = 200, headers = {}, body } = this.#rest(method, path.slice(VERSION.length), request) ?? {}
    return { status, headers: { 'sforce-limit-info': `api-usage=${this.usage}`, ...headers }, body }
  }

  #rest(method: string, path: string, { query, body }: SystemRequest): SystemResponse {
    const [, resource = '', first = '', last = ''] = path.split('/')
    if (resource === 'sobjects' && last === 'describe') return this.#describe(first)
    if (resource === 'sobjects' && first === 'Task' && method === 'POST') return this.#createTask(body)
    if (resource === 'query' || resource === 'queryAll') {
      return first === ''
        ? this.#query(query.get('q') ?? '', resource === 'queryAll')
        : this.#queryMore(resource, first)
    }
    if (resource === 'composite' && first === 'sobjects' && last === '') return this.#save(method, body)
    if (resource !== 'jobs' || first !== 'query') return notFound()
    const [, , , id = '', results] = path.split('/')
    if (id === '') return method === 'POST' ? this.#createJob(body) : notFound()
    const job = this.jobs.get(id)
    if (!job) return notFound()
    if (results === 'results') return this.#results(job, query)
    if (method === 'DELETE') {
      this.jobs.delete(id)
      return { status: 204 }
    }
    if (job.state === 'InProgress' && job.polls-- <= 0) job.state = 'JobComplete'
    return { body: describeJob(id, job) }
  }

  #createTask(body: string): SystemResponse {
    const fields = JSON.parse(body) as Record<string, Value>
    const isKnown = [...(this.records.Contact ?? []), ...(this.records.Lead ?? [])].some(
      ({ Id }) => Id === fields.WhoId,
    )
    if (!isKnown) return refused(400, { errorCode: 'MALFORMED_ID', message: 'Name ID: id value of incorrect type' })
    const id = idOf('00T', 900 + ++this.#numbers)
    const now = new Date().toISOString()
    const times = { CreatedDate: now, CompletedDateTime: now, LastModifiedDate: now, SystemModstamp: now }
    const IsClosed = fields.Status === 'Completed'
    this.records.Task?.push(record(id, { ...fields, ...times, IsClosed }))
    return { status: 201, body: { id, success: true, errors: [] } }
  }

  #describe(sobject: string): SystemResponse {
    const types = TYPES[sobject]
    if (!types || this.hidden.includes(sobject)) return notFound()
    const { 'Owner.Name': _, ...common } = COMMON
    const visible = Object.entries({ ...common, ...types }).filter(([name]) => !this.#isHidden(sobject, name))
    const fields = visible.map(([name, type]) => {
      const length = type === 'textarea' ? 32_000 : type === 'string' ? 255 : 0
      const updateable = !READ_ONLY.includes(name)
      return { name, type, length, custom: name.endsWith('__c'), label: name, nillable: true, updateable }
    })
    return { body: { name: sobject, custom: false, queryable: true, fields } }
  }

  /** Creates or changes a collection of records. A value of another type than its field makes the whole request malformed. */
  #save(method: string, body: string): SystemResponse {
    const { records = [] } = JSON.parse(body) as { records?: Sent[] }
    if (records.length > 200) return refused(400, { errorCode: 'LIMIT_EXCEEDED', message: 'At most 200 records' })
    const misfit = records.find(({ attributes: { type }, id: _, ...sent }) =>
      Object.entries(sent).some(([name, value]) => !fits(TYPES[type]?.[name], value)),
    )
    if (misfit) {
      return refused(400, { errorCode: 'JSON_PARSER_ERROR', message: 'Cannot deserialize instance of a field' })
    }
    return { body: records.map((each) => (method === 'POST' ? this.#create(each) : this.#change(each))) }
  }

  #create({ attributes: { type }, ...sent }: Sent): object {
    const missing = REQUIRED[type]?.filter((name) => (sent[name] ?? '') === '') ?? []
    if (missing.length > 0) {
      return unsaved('REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing.join(', ')}]`, missing)
    }
    const id = idOf(type === 'Lead' ? '00Q' : '003', 1_000_000 + ++this.#numbers)
    const time = new Date().toISOString()
    const created = record(id, { CreatedDate: time, IsConverted: type === 'Lead' ? false : null })
    this.records[type]?.push(created)
    return this.#set(type, created, sent)
  }

  #change({ attributes: { type }, id, ...sent }: Sent): object {
    const found = this.records[type]?.find(({ Id }) => Id === id)
    if (!found) return unsaved('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id')
    if (found.IsDeleted === true) return unsaved('ENTITY_IS_DELETED', 'entity is deleted')
    if (found.IsConverted === true) return unsaved('CANNOT_UPDATE_CONVERTED_LEAD', 'cannot reference converted lead')
    return this.#set(type, found, sent)
  }

  #set(type: string, target: SalesforceObject, sent: Record<string, Value>): object {
    const isKnown = (name: string) =>
      Object.hasOwn(TYPES[type] ?? {}, name) && !READ_ONLY.includes(name) && !this.#isHidden(type, name)
    const unknown = Object.keys(sent).filter((name) => !isKnown(name))
    if (unknown.length > 0) return unsaved('INVALID_FIELD_FOR_INSERT_UPDATE', `Unable to save: ${unknown}`, unknown)
    const problem = this.problemOf(sent)
    if (problem !== null) return unsaved('FIELD_CUSTOM_VALIDATION_EXCEPTION', problem)
    const saved = Object.entries(sent).map(([name, value]) => [name, this.stored(name, value)] as const)
    Object.assign(target, Object.fromEntries(saved), { SystemModstamp: new Date().toISOString() })
    return { id: target.Id, success: true, errors: [] }
  }

  #query(text: string, isAll: boolean): SystemResponse {
    const soql = this.#parse(text)
    if (typeof soql === 'string') return refused(400, { errorCode: soql, message: text })
    const id = `01g${String(++this.#numbers).padStart(15, '0')}`
    this.#queries.set(id, this.#select(soql, isAll))
    return this.#page(isAll ? 'queryAll' : 'query', id, soql, 0)
  }

  readonly #soqlOf = new Map<string, Soql>()

  #page(resource: string, id: string, soql: Soql, from: number): SystemResponse {
    this.#soqlOf.set(id, soql)
    const all = this.#queries.get(id) ?? []
    const to = from + this.pageSize
    const isDone = to >= all.length
    const records = all.slice(from, to).map((each) => toJson(each, soql))
    const more = isDone ? {} : { nextRecordsUrl: `${VERSION}/${resource}/${id}-${to}` }
    return { body: { totalSize: all.length, done: isDone, ...more, records } }
  }

  #queryMore(resource: string, locator: string): SystemResponse {
    const [id = '', from = ''] = locator.split('-')
    const soql = this.#soqlOf.get(id)
    if (soql) return this.#page(resource, id, soql, Number(from))
    return refused(400, { errorCode: 'INVALID_QUERY_LOCATOR', message: 'invalid query locator' })
  }

  /** Salesforce forgets queries after 2 days. */
  forgetQueries(): void {
    this.#soqlOf.clear()
  }

  #createJob(body: string): SystemResponse {
    const { operation, query = '' } = JSON.parse(body) as { operation: string; query: string }
    if (operation !== 'query' && operation !== 'queryAll') {
      return refused(400, { errorCode: 'INVALIDJOB', message: `${operation} is not supported` })
    }
    const soql = this.#parse(query)
    if (typeof soql === 'string') return refused(400, { errorCode: 'API_ERROR', message: `${soql}: ${query}` })
    const id = `750${String(++this.#numbers).padStart(15, '0')}`
    const state = this.pollsOfJobs === null ? 'Failed' : 'InProgress'
    const job = { soql, isAll: operation === 'queryAll', state, polls: this.pollsOfJobs ?? 0 }
    this.jobs.set(id, job)
    return { body: { ...describeJob(id, job), state: 'UploadComplete' } }
  }

  #results({ state, soql, isAll }: Job, query: URLSearchParams): SystemResponse {
    if (state !== 'JobComplete') {
      return refused(400, { errorCode: 'INVALIDJOBSTATE', message: 'Results are available when the job is complete.' })
    }
    const all = this.#select(soql, isAll)
    const from = Number(Buffer.from(query.get('locator') ?? '', 'base64').toString() || '0')
    const size = Math.min(this.pageSize, Number(query.get('maxRecords') ?? this.pageSize))
    const rows = all.slice(from, from + size)
    const locator = from + size < all.length ? Buffer.from(String(from + size)).toString('base64') : 'null'
    const csv = [soql.fields, ...rows.map((row) => soql.fields.map((field) => row[field] ?? ''))]
      .map((cells) => `${cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',')}\n`)
      .join('')
    const headers = {
      'content-type': 'text/csv',
      'sforce-locator': locator,
      'sforce-numberofrecords': String(rows.length),
    }
    return { headers, body: csv }
  }

  #parse(text: string): Soql | string {
    const soql = parseSoql(text)
    if (soql === null) return 'MALFORMED_QUERY'
    const types = TYPES[soql.sobject]
    if (!types || this.hidden.includes(soql.sobject)) return 'INVALID_TYPE'
    const known = Object.keys({ ...COMMON, ...types }).filter((name) => !this.#isHidden(soql.sobject, name))
    return [...soql.fields, ...soql.compared].every((field) => known.includes(field)) ? soql : 'INVALID_FIELD'
  }

  #isHidden(sobject: string, field: string): boolean {
    return this.hiddenFields.includes(`${sobject}.${field}`)
  }

  #select(soql: Soql, isAll: boolean): SalesforceObject[] {
    const all = this.records[soql.sobject] ?? []
    const visible = all.filter(({ IsDeleted, IsArchived }) => isAll || (IsDeleted !== true && IsArchived !== true))
    const found = visible.filter((each) => matches(soql.where, { IsDeleted: false, ...each }))
    const { orderBy } = soql
    return orderBy === null ? found : found.toSorted((a, b) => (String(a[orderBy]) < String(b[orderBy]) ? -1 : 1))
  }

  /** https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_refresh_token_flow.htm */
  #issue({ body }: SystemRequest): SystemResponse {
    const form = new URLSearchParams(body)
    if (form.get('client_id') !== 'client-1' || form.get('client_secret') !== 'client-secret') {
      return { status: 400, body: { error: 'invalid_client', error_description: 'invalid client credentials' } }
    }
    const isRenewal = form.get('grant_type') === 'refresh_token'
    if (isRenewal && form.get('refresh_token') !== this.refreshToken) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'expired access/refresh token' } }
    }
    this.accessToken = `00D!access.${++this.#numbers}`
    if (!isRenewal) this.refreshToken = `refresh.${this.#numbers}`
    const tokens = { access_token: this.accessToken, ...(isRenewal ? {} : { refresh_token: this.refreshToken }) }
    const id = `${this.instanceUrl}/id/00D000000000001EAA/005000000000001`
    const rest = { instance_url: this.instanceUrl, id, token_type: 'Bearer', issued_at: '1767225600000' }
    return { body: { ...tokens, ...rest, scope: 'api refresh_token', signature: 'c2ln' } }
  }
}

function unsaved(statusCode: string, message: string, fields: readonly string[] = []): object {
  return { success: false, errors: [{ statusCode, message, fields }] }
}

function fits(type: string | undefined, value: Value): boolean {
  if (value === null) return true
  if (type === 'boolean') return typeof value === 'boolean'
  const isNumber = ['int', 'double', 'currency', 'percent'].includes(type ?? '')
  return isNumber ? typeof value === 'number' : typeof value === 'string'
}

function describeJob(id: string, { soql, isAll, state }: Job) {
  const job = { id, operation: isAll ? 'queryAll' : 'query', object: soql.sobject, state, apiVersion: 62 }
  return {
    ...job,
    createdById: '005000000000001',
    createdDate: '2026-01-01T00:00:00.000+0000',
    contentType: 'CSV',
    concurrencyMode: 'Parallel',
    lineEnding: 'LF',
    columnDelimiter: 'COMMA',
  }
}

/** Fields of parents are objects, and times have an offset without a colon. */
function toJson(row: SalesforceObject, { sobject, fields }: Soql): object {
  const entries = fields.map((field) => {
    const value = row[field] ?? null
    if (field.includes('.'))
      return [field.split('.')[0], value === null ? null : { attributes: { type: 'Name' }, Name: value }]
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)
    return [field, isTime ? value.replace('Z', '+0000') : value]
  })
  const url = `${VERSION}/sobjects/${sobject}/${row.Id}`
  return { attributes: { type: sobject, url }, ...Object.fromEntries(entries) }
}

function refused(status: number, error: { errorCode: string; message: string }): SystemResponse {
  return { status, body: [error] }
}

function notFound(): SystemResponse {
  return refused(404, { errorCode: 'NOT_FOUND', message: 'The requested resource does not exist' })
}

export function record(Id: string, more: Record<string, Value> = {}): SalesforceObject {
  return {
    Id,
    CreatedDate: '2026-01-01T00:00:00.000Z',
    SystemModstamp: '2026-01-01T00:00:00.000Z',
    IsDeleted: false,
    'Owner.Name': 'Olga Owner',
    ...more,
  } as SalesforceObject
}

/** The id of a contact (003), a lead (00Q), a task (00T) … */
export function idOf(prefix: string, number: number): string {
  return `${prefix}${String(number).padStart(12, '0')}EAA`
}

export function contact(number: number, more: Record<string, Value> = {}): SalesforceObject {
  const names = { FirstName: 'Person', LastName: String(number), Email: `person${number}@example.com` }
  return record(idOf('003', number), { ...names, HasOptedOutOfEmail: false, ...more })
}
