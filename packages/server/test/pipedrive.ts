import { isObject } from '../src/platform/is-object.ts'
import type { SystemRequest, SystemResponse } from './connected-system.ts'

export const API_TOKEN = '0123456789abcdef0123456789abcdef01234567'

type Item = Record<string, unknown> & { id: number; update_time: string }

/**
 * Pipedrive's API for one account, as https://developers.pipedrive.com/docs/api/v1 and the migration guide to v2 document
 * it: lists with opaque cursors, filters and sorting, custom fields by hashes, deletions among the recent changes.
 */
export class PipedriveAccount {
  persons: Item[] = []
  organizations: Item[] = []
  deals: Item[] = []
  activities: Item[] = []
  notes: { id: number; person_id: number; content: string; add_time: string }[] = []
  stages = [
    { id: 1, name: 'Qualified' },
    { id: 2, name: 'Offer' },
  ]
  pipelines = [{ id: 1, name: 'Engines' }]
  personFields: object[] = []
  /** Whether the search has no person yet that was added through the API. */
  isSearchLate = false
  organizationFields: object[] = []
  recents: { item: string; id: number; data: object | null; at: string }[] = []
  /** The largest page, so that a few items need several. */
  pageSize = 500
  apiToken = API_TOKEN
  /** Valid after a sign-in. */
  accessToken = ''
  refreshToken = ''
  #issued = 0

  respond(request: SystemRequest): SystemResponse {
    const { path, query, headers } = request
    if (path === '/oauth/token') return this.#issue(request)
    const isKnown =
      headers['x-api-token'] === this.apiToken ||
      (this.accessToken !== '' && headers.authorization === `Bearer ${this.accessToken}`)
    if (!isKnown) {
      return { status: 401, body: { success: false, error: 'unauthorized access', errorCode: 401 } }
    }
    if (path === '/api/v1/users/me')
      return { body: { success: true, data: { id: 1, company_id: 77, company_name: 'Engines' } } }
    const isMarketed = this.personFields.some((each) => 'field_code' in each && each.field_code === 'marketing_status')
    if (query.get('include_fields')?.includes('marketing_status') && !isMarketed) {
      return { status: 400, body: { success: false, error: 'marketing_status is not available', code: 'ERR_SCHEMA' } }
    }
    if (path === '/api/v1/recents') return this.#recents(query)
    if (path === '/api/v2/persons/search') return this.#search(query)
    if (path.startsWith('/api/v2/persons') && request.method !== 'GET') return this.#save(request)
    if (request.method === 'POST') return this.#create(path, JSON.parse(request.body) as Record<string, unknown>)
    if (path === '/api/v1/notes') {
      const data = this.notes.filter(({ person_id }) => String(person_id) === query.get('person_id'))
      return { body: { success: true, data: data.length === 0 ? null : data } }
    }
    const lists: Record<string, () => object[]> = {
      '/api/v2/persons': () => this.#persons(query),
      '/api/v2/organizations': () => changed(this.organizations, query),
      '/api/v2/deals': () => this.#deals(query),
      '/api/v2/activities': () => {
        const person = query.get('person_id')
        const some = changed(this.activities, query).filter((each) => isDone(each, query))
        return some.filter(({ person_id }) => person === null || String(person_id) === person)
      },
      '/api/v2/stages': () => this.stages,
      '/api/v2/pipelines': () => this.pipelines,
      '/api/v2/personFields': () => this.personFields,
      '/api/v2/organizationFields': () => this.organizationFields,
    }
    const list = lists[path]
    if (!list) return { status: 404, body: { success: false, error: 'Not found', code: 'ERR_NOT_FOUND' } }
    const cursor = query.get('cursor')
    const from = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64').toString())
    if (!Number.isInteger(from)) return { status: 400, body: { success: false, error: 'Invalid cursor' } }
    const size = Math.min(this.pageSize, Number(query.get('limit') ?? 100))
    const all = list()
    const next = from + size < all.length ? Buffer.from(String(from + size)).toString('base64') : null
    return { body: { success: true, data: all.slice(from, from + size), additional_data: { next_cursor: next } } }
  }

  /** An exact search for an address, which ignores case. */
  #search(query: URLSearchParams): SystemResponse {
    if (query.get('fields') !== 'email' || query.get('exact_match') !== 'true') return malformed('not an exact search')
    const term = query.get('term')?.toLowerCase()
    const known = this.persons.filter(({ id }) => !this.isSearchLate || id < ADDED_FROM)
    const found = known.filter(({ emails }) => addressesOf(emails).includes(term ?? ''))
    const items = found.map(({ id, name }) => ({ result_score: 1, item: { id, type: 'person', name } }))
    return { body: { success: true, data: { items }, additional_data: { next_cursor: null } } }
  }

  /** Adds or changes a person. */
  #save({ method, path, body }: SystemRequest): SystemResponse {
    const { name, emails, phones, custom_fields, ...others } = JSON.parse(body) as Record<string, unknown>
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) return malformed(`${unknown} is not allowed`)
    const custom = isObject(custom_fields) ? custom_fields : {}
    for (const [key, value] of Object.entries(custom)) {
      const field = this.personFields.find((each) => 'field_code' in each && each.field_code === key)
      if (!field || !fits(field, value)) return malformed(`custom_fields.${key} is not valid`)
    }
    const id = Number(path.split('/').at(-1))
    const isNew = method === 'POST'
    if (isNew && typeof name !== 'string') return malformed('name is required')
    if (isNew) {
      this.persons.push(person(ADDED_FROM + this.persons.length, { emails: [], add_time: justNow() }))
    }
    const found = isNew ? this.persons.at(-1) : this.persons.find((each) => each.id === id)
    if (!found) return { status: 404, body: { success: false, error: 'Person not found', code: 'ERR_NOT_FOUND' } }
    const [first, ...rest] = typeof name === 'string' ? name.split(' ') : []
    const names = first === undefined ? {} : { name, first_name: first, last_name: rest.join(' ') || null }
    const lists = { ...(emails === undefined ? {} : { emails }), ...(phones === undefined ? {} : { phones }) }
    const before = isObject(found.custom_fields) ? found.custom_fields : {}
    // A test may have moved the time ahead.
    const [, update_time] = [found.update_time, justNow()].toSorted()
    Object.assign(found, names, lists, { custom_fields: { ...before, ...custom }, update_time })
    return { status: isNew ? 201 : 200, body: { success: true, data: found } }
  }

  /** Deletes as a person does: lists no longer have it. */
  delete(item: 'person' | 'organization', id: number, at = new Date()): void {
    const list = item === 'person' ? this.persons : this.organizations
    const index = list.findIndex((each) => each.id === id)
    const [deleted] = list.splice(index, 1)
    this.recents.push({ item, id, data: { ...deleted, active_flag: false }, at: at.toISOString() })
  }

  /** Notes of v1 and activities of v2, whose person is a participant. */
  #create(path: string, body: Record<string, unknown>): SystemResponse {
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
    const id = 1_000 + this.notes.length + this.activities.length
    const participants = body.participants as { person_id: number; primary: boolean }[] | undefined
    const person = path === '/api/v1/notes' ? body.person_id : participants?.find(({ primary }) => primary)?.person_id
    if (!this.persons.some((each) => each.id === person)) {
      return { status: 400, body: { success: false, error: 'Person not found', code: 'ERR_SCHEMA' } }
    }
    if (path === '/api/v1/notes') {
      const add_time = now.replace('T', ' ').replace('Z', '')
      this.notes.push({ id, person_id: Number(person), content: String(body.content), add_time })
    } else {
      const times = { update_time: now, marked_as_done_time: body.done === true ? now : null, is_deleted: false }
      this.activities.push({ id, ...body, person_id: person, ...times })
    }
    return { status: 201, body: { success: true, data: { id, ...body } } }
  }

  #persons(query: URLSearchParams): object[] {
    const ids = query.get('ids')?.split(',')
    const some = changed(this.persons, query).filter(({ id }) => ids?.includes(String(id)) ?? true)
    const countOf = (id: number, status: string) =>
      this.deals.filter((deal) => deal.person_id === id && deal.status === status && deal.is_deleted !== true).length
    if (query.get('include_fields') === 'marketing_status') return some
    if (query.get('include_fields') !== 'open_deals_count,won_deals_count') {
      return some.map(({ marketing_status: _, ...person }) => person)
    }
    return some.map((person) => ({
      ...person,
      open_deals_count: countOf(person.id, 'open'),
      won_deals_count: countOf(person.id, 'won'),
    }))
  }

  #deals(query: URLSearchParams): object[] {
    const statuses = (query.get('status') ?? 'open,won,lost').split(',')
    const person = query.get('person_id')
    return changed(this.deals, query).filter((deal) => {
      const status = deal.is_deleted === true ? 'deleted' : String(deal.status)
      return statuses.includes(status) && (person === null || String(deal.person_id) === person)
    })
  }

  #recents(query: URLSearchParams): SystemResponse {
    const since = query.get('since_timestamp') ?? ''
    if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(since)) {
      return { status: 400, body: { success: false, error: 'since_timestamp is not valid' } }
    }
    const items = query.get('items')?.split(',') ?? []
    const all = this.recents.filter(({ item, at }) => items.includes(item) && at >= `${since.replace(' ', 'T')}Z`)
    const start = Number(query.get('start') ?? 0)
    const limit = Math.min(this.pageSize, Number(query.get('limit') ?? 100))
    const page = all.slice(start, start + limit).map(({ item, id, data }) => ({ item, id, data }))
    const hasMore = start + limit < all.length
    const pagination = {
      start,
      limit,
      more_items_in_collection: hasMore,
      ...(hasMore ? { next_start: start + limit } : {}),
    }
    return { body: { success: true, data: page.length === 0 ? null : page, additional_data: { pagination } } }
  }

  /** https://pipedrive.readme.io/docs/marketplace-oauth-authorization: the client authenticates with HTTP Basic. */
  #issue({ headers, body }: SystemRequest): SystemResponse {
    const form = new URLSearchParams(body)
    const isClient = headers.authorization === `Basic ${Buffer.from('client-1:client-secret').toString('base64')}`
    if (!isClient) return { status: 401, body: { success: false, error: 'invalid_client' } }
    const isRenewal = form.get('grant_type') === 'refresh_token'
    if (isRenewal && form.get('refresh_token') !== this.refreshToken) {
      return {
        status: 400,
        body: { success: false, error: 'invalid_grant', message: 'The refresh token is not valid.' },
      }
    }
    this.accessToken = `access-${++this.#issued}`
    this.refreshToken = `refresh-${this.#issued}`
    const tokens = { access_token: this.accessToken, refresh_token: this.refreshToken, token_type: 'Bearer' }
    return {
      body: { ...tokens, expires_in: 3_599, scope: 'contacts:read', api_domain: 'https://engines.pipedrive.com' },
    }
  }
}

function malformed(error: string): SystemResponse {
  return { status: 400, body: { success: false, error, code: 'ERR_SCHEMA_VALIDATION_FAILED' } }
}

function addressesOf(emails: unknown): string[] {
  return (emails as { value: string }[]).map(({ value }) => value.toLowerCase())
}

/** Whether a custom field takes a value. */
function fits(field: object, value: unknown): boolean {
  const { field_type: type, options } = field as { field_type: string; options: { id: number }[] | null }
  const isOption = (id: unknown) => options?.some((option) => option.id === id) ?? false
  if (value === null) return true
  if (type === 'double') return typeof value === 'number'
  if (type === 'date') return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)
  if (type === 'enum') return isOption(value)
  // An empty list is refused: null clears the field.
  if (type === 'set') return Array.isArray(value) && value.length > 0 && value.every(isOption)
  return typeof value === 'string'
}

function changed(items: readonly Item[], query: URLSearchParams): Item[] {
  const [since, until] = [query.get('updated_since') ?? '', query.get('updated_until') ?? '9999']
  const some = items.filter(({ update_time }) => update_time >= since && update_time < until)
  const by = query.get('sort_by') ?? 'id'
  const sorted = some.toSorted((a, b) => (keyOf(a, by) < keyOf(b, by) ? -1 : keyOf(a, by) > keyOf(b, by) ? 1 : 0))
  return query.get('sort_direction') === 'desc' ? sorted.reverse() : sorted
}

function keyOf(item: Item, by: string): string | number {
  const key = item[by]
  return typeof key === 'string' ? key : item.id
}

function isDone({ done }: Item, query: URLSearchParams): boolean {
  return query.get('done') === null || String(done) === query.get('done')
}

/** The ids of persons that were added through the API. */
const ADDED_FROM = 1_000
const LONG_AGO = '2026-01-01T00:00:00Z'

/** A time that is after every read so far. */
export function justNow(laterMs = 0): string {
  return new Date(Date.now() + laterMs).toISOString().replace(/\.\d+Z$/, 'Z')
}

export function person(id: number, more: object = {}): Item {
  return {
    id,
    name: `Person ${id}`,
    first_name: 'Person',
    last_name: String(id),
    emails: [{ value: `person${id}@example.com`, primary: true, label: 'work' }],
    phones: [],
    org_id: null,
    owner_id: 1,
    add_time: LONG_AGO,
    update_time: LONG_AGO,
    is_deleted: false,
    custom_fields: {},
    ...more,
  }
}

export function deal(id: number, person_id: number, more: object = {}): Item {
  const value = { value: 100, currency: 'EUR', stage_id: 1, pipeline_id: 1, status: 'open', is_deleted: false }
  const times = { add_time: LONG_AGO, stage_change_time: null, won_time: null, lost_time: null }
  return {
    id,
    title: `Deal ${id}`,
    person_id,
    org_id: null,
    ...value,
    ...times,
    update_time: LONG_AGO,
    custom_fields: {},
    ...more,
  }
}

export function activity(id: number, person_id: number | null, more: object = {}): Item {
  const due = { due_date: '2026-01-05', due_time: '10:00', duration: '00:30', done: true, is_deleted: false }
  const texts = {
    subject: `Call ${id}`,
    type: 'call',
    note: '<p>Wants an <b>offer</b></p>',
    deal_id: null,
    org_id: null,
  }
  return {
    id,
    person_id,
    ...texts,
    ...due,
    marked_as_done_time: '2026-01-05T10:30:00Z',
    update_time: LONG_AGO,
    ...more,
  }
}
