import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { RoleName } from '../operations/roles.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id } from '../platform/http/responses.ts'
import type { Stores } from '../platform/tenant.ts'
import { changeRole, listMembers, Member, readMember, removeMember } from './members.ts'

/** Services of the member operations. Accounts belong to no tenant, so they need the stores. */
export interface MemberServices {
  stores: Stores
}

const operation = operationsWith<MemberServices>()
const tag = 'Members'
const MemberPath = { user_id: idInPath('member') }

const memberEntry = entryAbout('user')

/**
 * The people of a tenant. Only owners manage owners. An API key can grant roles whose scopes it has in full, and never
 * `owner`; see team-authority.ts.
 */
export const MEMBER_OPERATIONS = [
  operation({
    name: 'listMembers',
    tag,
    http: 'GET /v1/members',
    command: 'member list',
    scope: 'settings:read',
    summary: 'List the members of the tenant, in the order in which they joined',
    input: pageParameters(50, 100),
    output: { members: Type.Array(Member), pagination: Pagination },
    async run({ tenant, stores }, { page, limit }) {
      const { members, total } = await listMembers(stores.database, tenant.id, { page, limit })
      return { members, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getMember',
    tag,
    http: 'GET /v1/members/:user_id',
    command: 'member get',
    scope: 'settings:read',
    summary: 'Get a member',
    input: MemberPath,
    output: { member: Member },
    run: async ({ tenant, stores }, { user_id }) => ({ member: await readMember(stores.database, tenant.id, user_id) }),
  }),
  operation({
    name: 'updateMember',
    tag,
    http: 'PATCH /v1/members/:user_id',
    command: 'member update',
    scope: 'settings:write',
    summary: 'Change the role of a member',
    description:
      'Takes effect with their next request, and deletes the invitations that they could no longer create. Only an owner can add or change owners. An API key can only grant roles whose scopes it has in full, and never `owner`.',
    input: { ...MemberPath, role: RoleName },
    output: { member: Member },
    example: { role: 'viewer' },
    errors: ['409 last_owner'],
    forAudit: { before: RoleName },
    run: ({ tenant, now, ...caller }, { user_id, role }) => changeRole(tenant, caller, { userId: user_id, role }, now),
    audit: ({ member: { user_id, role }, before }) =>
      role === before ? null : memberEntry('member.role_changed', user_id, { from: before, to: role }),
  }),
  operation({
    name: 'removeMember',
    tag,
    http: 'DELETE /v1/members/:user_id',
    command: 'member remove',
    scope: 'settings:write',
    summary: 'Remove a member from the tenant',
    description:
      'Takes effect with their next request, and deletes the invitations that they created. Only an owner can remove owners.',
    input: MemberPath,
    output: { deleted: Type.Literal(true), user_id: Id },
    errors: ['409 last_owner'],
    forAudit: { role: RoleName },
    async run({ tenant, now, ...caller }, { user_id }) {
      return { deleted: true as const, user_id, role: await removeMember(tenant, caller, user_id, now) }
    },
    audit: ({ user_id, role }) => memberEntry('member.removed', user_id, { role }),
  }),
]
