import Type from 'typebox'
import type { Config, RateLimits } from '../config.ts'
import { firstAndLastEvent } from '../events/first-and-last.ts'
import { entryAbout } from '../operations/audit.ts'
import { operationsWith } from '../operations/declare.ts'
import { WRITES_DATA } from '../operations/further-scopes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { ContactId, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { LABEL, TEXT, WITHHELD, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { ZONE_LENGTH_MAX } from '../platform/time-zone.ts'
import { liveApiKeys } from './api-keys.ts'
import type { ChosenProperties } from './chosen-properties.ts'
import { requireSignature, rotateIdentitySecret, setIgnoredIds } from './identification-settings.ts'
import { readTenantObject, TenantObject } from './tenant-object.ts'
import { chooseProperties, renameTenant, setTimeZone } from './tenants.ts'

const tag = 'Settings'
/** Only the busiest keys are shown: a tenant may have hundreds. */
const KEYS_SHOWN = 50

/** Services of the tenant operations. */
export interface TenantServices {
  secrets: SecretBox
  /** Has everything that depends on what a day is follow a change of the time zone. */
  reevaluateDays(tx: Tenant): Promise<void>
}

/** Services of the operation on limits. */
export interface LimitServices {
  config: Pick<Config, 'rateLimits'>
  rateLimiter: Pick<RateLimiter, 'usedByApiKey' | 'usedByTenant'>
}

/** Services of the operation on the tracker. */
export interface TrackerServices {
  config: Pick<Config, 'publicUrl' | 'trackerScriptPath' | 'trackerCollectPath'>
}

const ofTenant = operationsWith<TenantServices>()
const ofLimits = operationsWith<LimitServices>()
const ofTracker = operationsWith<TrackerServices>()

const entryOf = entryAbout('tenant')

/** What changed in a list that a request replaces. */
function listChanges() {
  const words = Type.Array(Type.String(WORD))
  const description = 'What changed in the list, if the request has one.'
  return Type.Optional(Type.Object({ added: words, removed: words }, { title: 'ListChanges', description }))
}

function propertyNames(description: string, example: string[]) {
  const name = { minLength: 1, maxLength: 100, pattern: '\\S', 'x-expected': 'a name of 1 to 100 characters' }
  return Type.Optional(Type.Array(Type.String(name), { maxItems: 200, description, examples: [example] }))
}

/** The caller's tenant: its name and its settings for identification and redaction. */
export const TENANT_OPERATIONS = [
  ofTenant({
    name: 'getTenant',
    tag,
    http: 'GET /v1/tenant',
    command: 'tenant get',
    scope: 'settings:read',
    whileClosed: true,
    summary: 'Get the tenant',
    input: {},
    output: { tenant: TenantObject },
    run: async ({ tenant, now }) => ({ tenant: await readTenantObject(tenant, now) }),
  }),
  ofTenant({
    name: 'updateTenant',
    tag,
    http: 'PATCH /v1/tenant',
    command: 'tenant update',
    scope: 'settings:write',
    summary: "Change the tenant's settings",
    input: {
      name: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
      time_zone: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: ZONE_LENGTH_MAX,
          description: 'An IANA time zone. The dashboard shows times in it.',
          examples: ['Europe/Berlin'],
        }),
      ),
      require_signed_identification: Type.Optional(
        Type.Boolean({
          description: 'Whether to ignore identifications that pages send without a valid user_hash.',
        }),
      ),
      personal_properties: propertyNames(
        'Names of properties and of fields in the data of events that are hidden from AI agents, besides names, addresses and other personal values. Upper case, spaces, hyphens and underscores do not count. The list replaces the previous one.',
        ['customer_number', 'salary'],
      ),
      visible_properties: propertyNames(
        'Names of properties and of fields in the data of events that AI agents see, although their names or their values look personal. Email addresses, phone numbers and names of contacts in their values stay hidden. The list replaces the previous one, and a name that is added to one of the two lists leaves the other. Properties that are personal in every workspace, such as `email`, are refused.',
        ['location', 'handle'],
      ),
      ignored_ids: Type.Optional(
        Type.Array(
          Type.String({
            minLength: 1,
            maxLength: ID_LENGTH_MAX,
            pattern: '\\S',
            'x-expected': `a word of 1 to ${ID_LENGTH_MAX} characters`,
          }),
          {
            maxItems: 100,
            description:
              'Words that your systems send in place of an id that they do not have, such as `demo`. They are ignored as a user id, a visitor id and the id of a record, as are `undefined`, `null`, `anonymous` and the like for every tenant. Case, surrounding spaces and quotes do not count. What is already linked stays linked. The list replaces the previous one.',
            examples: [['demo', 'kiosk']],
          },
        ),
      ),
    },
    output: {
      tenant: TenantObject,
      personal_properties: listChanges(),
      visible_properties: listChanges(),
      ignored_ids: listChanges(),
    },
    errors: ['400 invalid_name'],
    example: { require_signed_identification: true },
    async run({ tenant, now, reevaluateDays }, changes) {
      const {
        name,
        time_zone: timeZone,
        require_signed_identification: isRequired,
        personal_properties: personal,
        visible_properties: visible,
        ignored_ids: words,
      } = changes
      if (name !== undefined) await renameTenant(tenant, name)
      if (timeZone !== undefined && (await setTimeZone(tenant, timeZone))) await reevaluateDays(tenant)
      if (isRequired !== undefined) await requireSignature(tenant, isRequired)
      const chosen: Partial<ChosenProperties> = { ...(personal && { personal }), ...(visible && { visible }) }
      const properties = personal || visible ? await chooseProperties(tenant, chosen) : null
      const changed = {
        // A name that joins one list leaves the other.
        ...(personal || properties?.personal.removed.length ? { personal_properties: properties?.personal } : {}),
        ...(visible || properties?.visible.removed.length ? { visible_properties: properties?.visible } : {}),
        ...(words === undefined ? {} : { ignored_ids: await setIgnoredIds(tenant, words) }),
      }
      return { tenant: await readTenantObject(tenant, now), ...changed }
    },
    audit: ({ tenant, ...changed }, changes) =>
      Object.keys(changes).length === 0
        ? null
        : entryOf('tenant.updated', tenant.tenant_id, {
            ...changes,
            ...(changes.name === undefined ? {} : { name: tenant.name }),
            ...changed,
          }),
  }),
  ofTenant({
    name: 'rotateIdentitySecret',
    tag,
    http: 'POST /v1/tenant/identity-secret',
    command: 'tenant identity-secret',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Create or rotate the identity secret',
    description:
      'Returns the secret, which is never shown again. The previous secret stays valid for 24 hours; the one before it stops working. To invalidate a leaked secret at once, rotate twice.',
    input: {},
    output: {
      identity_secret: Type.String({ description: 'The HMAC-SHA256 key that computes a user_hash.', ...WITHHELD }),
      previous_valid_until: Nullable(Timestamp),
    },
    status: 201,
    async run({ tenant, secrets, now }) {
      const { secret, previousUntil } = await rotateIdentitySecret(tenant, secrets, now)
      const previous_valid_until = previousUntil?.toISOString() ?? null
      return { identity_secret: secret, previous_valid_until }
    },
    audit: (_output, _input, { tenant }) => entryOf('tenant.identity_secret_rotated', tenant.id),
  }),
]

const LABELS: Record<keyof RateLimits, string> = {
  apiPerMinute: 'API requests with one key',
  downloadPerMinute: 'Downloads of files by one key or person',
  invalidKeyPerIpPerMinute: 'Invalid API keys from one address',
  trackPerIpPerMinute: 'Tracking requests from one address',
  trackPerTenantPerMinute: 'Tracking requests from all visitors',
  sourcePerMinute: 'Requests with the write key of one source',
  hookPerMinute: 'Bodies for one incoming webhook',
  hookPerTenantPerMinute: 'Bodies for all incoming webhooks',
  scriptPerIpPerMinute: 'Loads of the tracker script from one address',
  sharedPerIpPerMinute: 'Looks at shared reports and dashboards from one address',
  formPerIpPerMinute: 'Submissions of one form from one address',
  formPerPersonPerMinute: 'Form submissions that name one person',
  formPerTenantPerMinute: 'Form submissions by all people',
  signInPerIpPerMinute: 'Sign-ins from one address',
  signInPerPersonPerMinute: 'Sign-ins by one person from one address',
  signInElsewherePerMinute: 'Sign-ins by one person from all new networks',
  registrationPerIpPerMinute: 'Applications that register for MCP from one address',
}

const Limits = {
  enabled: Type.Boolean(),
  limits: Type.Array(Type.Object({ name: Type.String(WORD), label: Type.String(WORD), per_minute: Type.Integer() })),
  requests: Type.Object(
    {
      tracking: Nullable(Type.Integer()),
      forms: Nullable(Type.Integer()),
      keys: Type.Array(Type.Object({ key_id: Id, name: Type.String(LABEL), requests: Nullable(Type.Integer()) })),
    },
    {
      description:
        'Requests in the last minute, as counted by the process that serves this request; null for what it does not count. A command counts nothing.',
    },
  ),
}

const SeenEvent = Type.Object(
  {
    event_id: Id,
    event: Type.String(LABEL),
    timestamp: Timestamp,
    url: Nullable(Type.String(TEXT)),
    visitor_id: Type.String(TEXT),
    contact_id: Nullable(ContactId),
  },
  { title: 'SeenEvent' },
)

const Tracker = {
  snippet: Type.String(WORD),
  script_url: Type.String(WORD),
  collect_url: Type.String(WORD),
  form_url: Type.String({ description: "Where pages send the tenant's forms; replace FORM_ID.", ...WORD }),
  first_event: Nullable(SeenEvent, 'Of a visitor who is not a bot; null without the scope `events:read`.'),
  last_event: Nullable(SeenEvent, 'null without the scope `events:read`.'),
}

const NO_EVENTS = { first: null, last: null }

export const LIMIT_OPERATIONS = [
  ofLimits({
    name: 'getLimits',
    tag,
    http: 'GET /v1/limits',
    command: 'limit get',
    scope: 'settings:read',
    summary: "Get the rate limits and the tenant's usage",
    input: {},
    output: Limits,
    async run({ tenant, config, rateLimiter }) {
      const keys = (await liveApiKeys(tenant))
        .map((key) => ({ ...key, requests: rateLimiter.usedByApiKey(key.key_id) }))
        .sort((one, other) => (other.requests ?? 0) - (one.requests ?? 0))
      const limits = Object.entries(config.rateLimits ?? {}) as [keyof RateLimits, number][]
      return {
        enabled: config.rateLimits !== null,
        limits: limits.map(([name, perMinute]) => ({ name, label: LABELS[name], per_minute: perMinute })),
        requests: { ...rateLimiter.usedByTenant(tenant.id), keys: keys.slice(0, KEYS_SHOWN) },
      }
    },
  }),
]

export const TRACKER_OPERATIONS = [
  ofTracker({
    name: 'getTracker',
    tag,
    http: 'GET /v1/tracker',
    command: 'tracker get',
    scope: 'settings:read',
    summary: "Get the tracker snippet for a site's pages, and the first and last event received from them",
    input: {},
    output: Tracker,
    async run({ tenant, scopes, config: { publicUrl, trackerScriptPath, trackerCollectPath } }) {
      const { first, last } = scopes.has('events:read') ? await firstAndLastEvent(tenant) : NO_EVENTS
      // The tenant is for pages that are refused: it sees that they loaded the script.
      const scriptUrl = `${publicUrl}${trackerScriptPath}?tenant=${tenant.id}`
      return {
        // The script has the path for events built in.
        snippet: `<script async src="${escapeAttribute(scriptUrl)}"></script>`,
        script_url: scriptUrl,
        collect_url: `${publicUrl}${trackerCollectPath}`,
        form_url: `${publicUrl}/v1/public/form-submission/${tenant.id}/FORM_ID`,
        first_event: first,
        last_event: last,
      }
    },
  }),
]

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
