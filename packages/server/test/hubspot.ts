import {
  type ConnectedSystem,
  type SystemRequest,
  type SystemResponse,
  startConnectedSystem,
} from './connected-system.ts'
import { NEW_YEAR, readAssociations, readBatch, writeBatch } from './hubspot-batches.ts'
import {
  CONTACT_PROPERTIES,
  type HubSpotRecord,
  HubSpotRecords,
  type ObjectType,
  Refused,
  shown,
} from './hubspot-records.ts'
import type { makeCertificate } from './receiver.ts'

export const TOKEN = 'pat-na1-00000000-0000-0000-0000-000000000000'
const TYPES = ['contacts', 'companies', 'deals', 'calls', 'emails', 'meetings', 'notes', 'tasks']

export interface HubSpot extends ConnectedSystem {
  records: HubSpotRecords
  /** Access tokens that are valid. */
  tokens: Set<string>
  /** Requests that are allowed in 10 seconds and, of searches, in one. */
  limits: { tenSecondly: number; searchesSecondly: number }
  /** Requests that these limits refused. */
  refused: number
  /** Requests that are left today. */
  remainingToday: number
  /** Whether a batch with a wrong input fails for this input only, if inputs have trace ids; otherwise as a whole. */
  isMultiStatus: boolean
  /** The most results of one search that can be paged through. */
  searchWindow: number
  owners: { id: string; email: string; firstName: string; lastName: string; archived: boolean }[]
}

type Body = Record<string, unknown>

/** Starts a HubSpot on loopback that behaves as https://developers.hubspot.com/docs/api-reference says. */
export async function startHubSpot(certificate: ReturnType<typeof makeCertificate>): Promise<HubSpot> {
  const records = new HubSpotRecords()
  const times: number[] = []
  const searches: number[] = []
  const system = await startConnectedSystem(certificate, (request) => {
    const refusal = limited(request)
    if (refusal) hubspot.refused++
    const response = refusal ?? responseTo(request)
    return response && { ...response, headers: { ...rateHeaders(), ...response.headers } }
  })
  const hubspot: HubSpot = Object.assign(system, {
    records,
    tokens: new Set([TOKEN]),
    limits: { tenSecondly: 100, searchesSecondly: 5 },
    refused: 0,
    remainingToday: 250_000,
    isMultiStatus: true,
    searchWindow: 10_000,
    owners: [],
  })

  const within = (list: number[], ms: number) => {
    const from = hubspot.timer.now() - ms
    while (list.length > 0 && (list[0] as number) <= from) list.shift()
    return list.length
  }
  const rateHeaders = () => ({
    'x-hubspot-ratelimit-daily': '250000',
    'x-hubspot-ratelimit-daily-remaining': String(hubspot.remainingToday),
    'x-hubspot-ratelimit-interval-milliseconds': '10000',
    'x-hubspot-ratelimit-max': String(hubspot.limits.tenSecondly),
    'x-hubspot-ratelimit-remaining': String(Math.max(0, hubspot.limits.tenSecondly - within(times, 10_000))),
  })

  function limited({ path }: SystemRequest): SystemResponse | undefined {
    const isSearch = path.endsWith('/search')
    if (hubspot.remainingToday <= 0) return tooMany('DAILY', 'You have reached your daily limit.')
    if (within(times, 10_000) >= hubspot.limits.tenSecondly)
      return tooMany('TEN_SECONDLY_ROLLING', 'You have reached your ten_secondly_rolling limit.')
    if (isSearch && within(searches, 1_000) >= hubspot.limits.searchesSecondly)
      return tooMany('SECONDLY', 'You have reached your secondly limit.')
    hubspot.remainingToday--
    times.push(hubspot.timer.now())
    if (isSearch) searches.push(hubspot.timer.now())
    return undefined
  }

  function responseTo(request: SystemRequest): SystemResponse {
    if (request.path === '/oauth/v1/token') return token(hubspot, new URLSearchParams(request.body))
    const sent = String(request.headers.authorization ?? '').replace(/^Bearer /, '')
    if (!hubspot.tokens.has(sent)) {
      const category = sent.startsWith('expired') ? 'EXPIRED_AUTHENTICATION' : 'INVALID_AUTHENTICATION'
      return problem(401, category, 'Authentication credentials not found. This API supports OAuth 2.0 authentication.')
    }
    try {
      return route(hubspot, request)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return problem(
        error.category === 'CONFLICT' ? 409 : error.category === 'OBJECT_NOT_FOUND' ? 404 : 400,
        error.category,
        error.message,
      )
    }
  }
  return hubspot
}

function problem(status: number, category: string, message: string): SystemResponse {
  return { status, body: { status: 'error', message, correlationId: 'aeb5f871-7f07-4993-9211-075dc63e7cbf', category } }
}

export function tooMany(policyName: string, message: string): SystemResponse {
  const body = {
    status: 'error',
    message,
    errorType: 'RATE_LIMIT',
    correlationId: 'c033cdaa',
    policyName,
    requestId: '3d3e35b7',
  }
  return { status: 429, body }
}

function token(hubspot: HubSpot, form: URLSearchParams): SystemResponse {
  const grant = form.get('grant_type') ?? ''
  const isKnown = form.get(grant === 'refresh_token' ? 'refresh_token' : 'code')?.startsWith('good-') ?? false
  if (!isKnown || !['authorization_code', 'refresh_token'].includes(grant)) {
    return {
      status: 400,
      body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or invalid refresh token', error: 'invalid_grant' },
    }
  }
  const access_token = `access-${hubspot.tokens.size}`
  hubspot.tokens.add(access_token)
  return { body: { token_type: 'bearer', access_token, refresh_token: 'good-refresh', expires_in: 1_800 } }
}

function route(hubspot: HubSpot, { method, path, query, body: text }: SystemRequest): SystemResponse {
  const { records } = hubspot
  const body = (text === '' ? {} : JSON.parse(text)) as Body
  if (path === '/account-info/v3/details') {
    const zone = { timeZone: 'US/Eastern', utcOffset: '-05:00', utcOffsetMilliseconds: -18_000_000 }
    const account = { portalId: 4711, accountType: 'STANDARD', companyCurrency: 'USD', additionalCurrencies: [] }
    return { body: { ...account, ...zone, uiDomain: 'app.hubspot.com', dataHostingLocation: 'na1' } }
  }
  if (path === '/crm/v3/owners' || path === '/crm/v3/owners/') {
    const owners = hubspot.owners.filter(({ archived }) => String(archived) === (query.get('archived') ?? 'false'))
    const { page, paging } = pageOf(owners, Number(query.get('limit') ?? 100), query.get('after'))
    return {
      body: {
        results: page.map((owner) => ({ ...owner, userId: 1, createdAt: NEW_YEAR, updatedAt: NEW_YEAR })),
        ...paging,
      },
    }
  }
  if (path === '/crm/v3/pipelines/deals') return { body: { results: [PIPELINE] } }
  if (path === '/crm/v3/properties/contacts') {
    const results = [...CONTACT_PROPERTIES].map(([name, definition]) => ({ name, label: name, ...definition }))
    return { body: { results } }
  }
  const associations = path.match(/^\/crm\/v4\/associations\/(\w+)\/(\w+)\/batch\/read$/)
  if (associations) return readAssociations(records, associations[1] ?? '', associations[2] ?? '', body)
  const [, type = '', rest = ''] = path.match(/^\/crm\/v3\/objects\/(\w+)\/?(.*)$/) ?? []
  if (!TYPES.includes(type)) return problem(404, 'OBJECT_NOT_FOUND', `Unable to infer object type from: ${type}`)
  if (method === 'GET' && rest === '') return list(records, type, query)
  if (method === 'POST' && rest === '') return createActivity(records, type as ObjectType, body)
  if (method === 'DELETE') {
    records.archive(type as ObjectType, rest)
    return { status: 204 }
  }
  if (rest === 'search') return search(hubspot, type, body)
  if (rest === 'batch/read') return readBatch(records, type, body)
  if (rest === 'batch/update' || rest === 'batch/upsert') return writeBatch(hubspot, type as ObjectType, rest, body)
  if (rest === 'merge') return { body: records.merge(String(body.primaryObjectId), String(body.objectIdToMerge)) }
  if (rest === 'gdpr-delete') {
    records.purge(String(body.objectId))
    return { status: 204 }
  }
  return problem(405, 'METHOD_NOT_ALLOWED', 'Method not allowed')
}

/** The association type of a contact with each type of activity. */
const OF_CONTACT: Record<string, number> = { notes: 202, emails: 198 }

function createActivity(records: HubSpotRecords, type: ObjectType, body: Body): SystemResponse {
  const { properties, associations = [] } = body as {
    properties: Record<string, string>
    associations?: { to: { id: string }; types: { associationCategory: string; associationTypeId: number }[] }[]
  }
  if (!properties.hs_timestamp) throw new Refused('VALIDATION_ERROR', 'hs_timestamp is required')
  const isKnown = associations.every(
    ({ to, types }) =>
      records.find('contacts', to.id) !== undefined &&
      types.every(
        (each) => each.associationCategory === 'HUBSPOT_DEFINED' && each.associationTypeId === OF_CONTACT[type],
      ),
  )
  if (!isKnown) throw new Refused('VALIDATION_ERROR', 'One of the associations is not valid')
  const id = records.create(type, properties)
  for (const { to } of associations) records.associate([type, id], ['contacts', to.id])
  return { status: 201, body: shown(records.find(type, id) as HubSpotRecord, Object.keys(properties)) }
}

const STAGES: [string, string, string][] = [
  ['appointmentscheduled', 'Appointment scheduled', 'false'],
  ['contractsent', 'Contract sent', 'false'],
  ['closedwon', 'Closed won', 'true'],
  ['closedlost', 'Closed lost', 'true'],
]
const PIPELINE = {
  id: 'default',
  label: 'Sales pipeline',
  displayOrder: 0,
  archived: false,
  stages: STAGES.map(([id, label, isClosed]) => ({
    id,
    label,
    displayOrder: 0,
    metadata: { isClosed },
    archived: false,
  })),
}

function pageOf<Item>(items: readonly Item[], limit: number, after: string | null) {
  const from = Number(after ?? 0)
  const page = items.slice(from, from + limit)
  const next = from + limit < items.length ? { paging: { next: { after: String(from + limit), link: '' } } } : {}
  return { page, paging: next }
}

function list(records: HubSpotRecords, type: string, query: URLSearchParams): SystemResponse {
  const limit = Number(query.get('limit') ?? 10)
  if (limit > 100) throw new Refused('VALIDATION_ERROR', 'limit must be at most 100')
  const isArchived = query.get('archived') === 'true'
  const all = records.of(type).filter(({ archived }) => archived === isArchived)
  const { page, paging } = pageOf(all, limit, query.get('after'))
  // The client repeats the parameter; the documentation shows a list with commas.
  const names = query.getAll('properties').flatMap((each) => each.split(','))
  return { body: { results: page.map((record) => shown(record, names)), ...paging } }
}

interface Filter {
  propertyName: string
  operator: string
  value?: string
}

function search(hubspot: HubSpot, type: string, body: Body): SystemResponse {
  const {
    filterGroups = [],
    sorts = [],
    properties = [],
    limit = 10,
    after = '0',
  } = body as {
    filterGroups?: { filters: Filter[] }[]
    sorts?: ({ propertyName: string; direction?: string } | string)[]
    properties?: string[]
    limit?: number
    after?: string
  }
  if (limit > 200) throw new Refused('VALIDATION_ERROR', 'limit must be at most 200')
  if (filterGroups.length > 5 || filterGroups.some(({ filters }) => filters.length > 6))
    throw new Refused('VALIDATION_ERROR', 'at most 5 filter groups with 6 filters')
  if (sorts.length > 1) throw new Refused('VALIDATION_ERROR', 'only one sort')
  if (Number(after) + limit > hubspot.searchWindow)
    throw new Refused('VALIDATION_ERROR', 'Request exceeds the number of results that can be paged through')
  const all = hubspot.records.of(type).filter(({ archived }) => !archived)
  const matching = all.filter(
    (record) =>
      filterGroups.length === 0 ||
      filterGroups.some(({ filters }) => filters.every((filter) => matches(record, filter))),
  )
  const [sort] = sorts
  const name = typeof sort === 'string' ? sort : sort?.propertyName
  const sign = typeof sort === 'object' && sort.direction === 'DESCENDING' ? -1 : 1
  if (name) matching.sort((a, b) => sign * (numberOf(a.properties[name]) - numberOf(b.properties[name])))
  const { page, paging } = pageOf(matching, limit, after)
  return { body: { total: matching.length, results: page.map((record) => shown(record, properties)), ...paging } }
}

function matches({ properties }: HubSpotRecord, { propertyName, operator, value = '' }: Filter): boolean {
  const own = properties[propertyName] ?? null
  if (operator === 'EQ') return own === value
  if (operator === 'HAS_PROPERTY') return own !== null
  if (own === null) return false
  const difference = numberOf(own) - numberOf(value)
  if (operator === 'GT') return difference > 0
  if (operator === 'GTE') return difference >= 0
  if (operator === 'LTE') return difference <= 0
  throw new Refused('VALIDATION_ERROR', `operator ${operator} is not supported`)
}

/** A number, or a time in milliseconds. */
function numberOf(text: string | null | undefined): number {
  return /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '')
}
