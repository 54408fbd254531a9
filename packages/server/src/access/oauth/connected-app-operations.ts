import Type from 'typebox'
import type { Actor } from '../../operations/audit.ts'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { callerOf } from '../../operations/idempotency.ts'
import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page, Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { Changed, Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { LABEL, personal, WORD } from '../../platform/personal.ts'
import type { Stores, Tenant } from '../../platform/tenant.ts'
import { namesOfMembers } from '../members.ts'
import { storedTools, TOOLS_OPTION, type ToolChoiceServices, Tools } from '../tool-choice.ts'
import { changeTools, endGrant } from './grants.ts'

const tag = 'Connected apps'

export const ConnectedApp = Type.Object(
  {
    grant_id: Id,
    name: Type.String({ description: 'The name that the application gave itself. Nothing proves it.', ...LABEL }),
    redirect_host: Type.String({ description: 'Where the person was sent back to: a host or a URL scheme.', ...WORD }),
    user: Type.Object({ user_id: Id, name: Type.String(personal('name')) }),
    scopes: Type.Array(Type.String(WORD), {
      description: "What it may do at most. A call may never do more than the person's role.",
    }),
    redact_personal_data: Type.Boolean({ description: 'Whether it sees pseudonyms in place of personal data.' }),
    tools: Tools,
    created_at: Timestamp,
    last_used_at: Nullable(Timestamp),
  },
  { title: 'ConnectedApp' },
)
export type ConnectedApp = Type.Static<typeof ConnectedApp>

export interface ConnectedAppServices extends ToolChoiceServices {
  stores: Stores
  rateLimiter: Pick<RateLimiter, 'checkAudited'>
}

const operation = operationsWith<ConnectedAppServices>()

export const CONNECTED_APP_OPERATIONS = [
  operation({
    name: 'listConnectedApps',
    tag,
    http: 'GET /v1/connected-apps',
    command: 'connected-app list',
    scope: 'settings:read',
    summary: 'List the applications that act for people over MCP, newest first',
    input: pageParameters(50, 100),
    output: { connected_apps: Type.Array(ConnectedApp), pagination: Pagination },
    async run({ tenant, stores }, { page, limit }) {
      const { apps, total } = await listApps(tenant, stores, { page, limit })
      return { connected_apps: apps, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getConnectedApp',
    tag,
    http: 'GET /v1/connected-apps/:grant_id',
    command: 'connected-app get',
    scope: 'settings:read',
    summary: 'Get an application that acts for a person',
    input: { grant_id: idInPath('connected app') },
    output: { connected_app: ConnectedApp },
    run: async ({ tenant, stores }, { grant_id }) => ({ connected_app: await readApp(tenant, stores, grant_id) }),
  }),
  operation({
    name: 'updateConnectedApp',
    tag,
    http: 'PATCH /v1/connected-apps/:grant_id',
    command: 'connected-app update',
    scope: 'any-key',
    summary: 'Choose the tools that an application may use',
    description:
      'Needs the scope settings:write, except for an application that you connected yourself. Only the person who connected it can allow it more tools.',
    input: { grant_id: idInPath('connected app'), tools: Tools },
    output: { connected_app: ConnectedApp, changed: Changed },
    example: { tools: ['describe_schema', 'search_contacts'] },
    errors: ['400 unknown_tool', '403 not_your_application'],
    options: { tools: TOOLS_OPTION },
    async run({ tenant, actor, stores, offeredTools, requireScope, rateLimiter }, { grant_id, tools }) {
      const isOwn = await isOwnApp(tenant, actor, grant_id)
      if (isOwn) rateLimiter.checkAudited(callerOf(actor))
      else requireScope('settings:write')
      const isChanged = await changeTools(tenant, grant_id, storedTools(tools, offeredTools), isOwn)
      return { connected_app: await readApp(tenant, stores, grant_id), changed: isChanged ? ['tools'] : [] }
    },
    audit: ({ connected_app: { grant_id, name, tools }, changed }) =>
      changed.length === 0
        ? null
        : {
            action: 'connected_app.updated',
            subjectKind: 'connected_app',
            subjectId: grant_id,
            details: { name, changed, tools },
          },
  }),
  operation({
    name: 'revokeConnectedApp',
    tag,
    http: 'DELETE /v1/connected-apps/:grant_id',
    command: 'connected-app revoke',
    scope: 'any-key',
    summary: 'Disconnect an application: its tokens stop working at once',
    description: 'Needs the scope settings:write, except for an application that you connected yourself.',
    input: { grant_id: idInPath('connected app') },
    output: { revoked: Type.Literal(true), grant_id: Id, name: Type.String(LABEL) },
    async run({ tenant, actor, now, requireScope }, { grant_id }) {
      if (!(await isOwnApp(tenant, actor, grant_id))) requireScope('settings:write')
      const name = await endGrant(tenant, grant_id, now)
      if (name === null) throw notFound('connected app')
      return { revoked: true as const, grant_id, name }
    },
    audit: ({ grant_id, name }) => ({
      action: 'connected_app.revoked',
      subjectKind: 'connected_app',
      subjectId: grant_id,
      details: { name },
    }),
  }),
]

/** Whether the caller is the person who connected an application, who needs no scope. */
async function isOwnApp({ db }: Tenant, actor: Actor, grantId: string): Promise<boolean> {
  if (actor.kind !== 'user') return false
  const own = db.selectFrom('oauth_grants').select('grant_id').where('grant_id', '=', grantId)
  return (await own.where('user_id', '=', actor.id).executeTakeFirst()) !== undefined
}

/** @throws ServiceError 404 */
async function readApp(tenant: Tenant, stores: Stores, grantId: string): Promise<ConnectedApp> {
  const rows = await selectApps(tenant).where('grant_id', '=', grantId).execute()
  const [app] = await withNames(tenant, stores, rows)
  if (!app) throw notFound('connected app')
  return app
}

async function listApps(tenant: Tenant, stores: Stores, page: Page) {
  const [rows, counted] = await Promise.all([
    selectApps(tenant)
      .orderBy('created_at', 'desc')
      .orderBy('grant_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('oauth_grants')
      .where('revoked_at', 'is', null)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ])
  return { apps: await withNames(tenant, stores, rows), total: Number(counted?.count ?? 0) }
}

function selectApps({ db }: Tenant) {
  return db
    .selectFrom('oauth_grants')
    .where('revoked_at', 'is', null)
    .select(['grant_id', 'client_name', 'redirect_host', 'user_id', 'scopes', 'redacts', 'tools'])
    .select(['created_at', 'last_used_at'])
}

type Row = Awaited<ReturnType<ReturnType<typeof selectApps>['execute']>>[number]

async function withNames(tenant: Tenant, { database }: Stores, rows: Row[]): Promise<ConnectedApp[]> {
  const people = [...new Set(rows.map(({ user_id }) => user_id))]
  const names = people.length === 0 ? new Map<string, string>() : await namesOfMembers(tenant, people, { database })
  return rows.map((row) => ({
    grant_id: row.grant_id,
    name: row.client_name,
    redirect_host: row.redirect_host,
    user: { user_id: row.user_id, name: names.get(row.user_id) ?? '' },
    scopes: row.scopes,
    redact_personal_data: row.redacts,
    tools: row.tools,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }))
}
