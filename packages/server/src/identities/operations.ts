import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { searchText } from '../platform/http/query-parameters.ts'
import { Id } from '../platform/http/responses.ts'
import { bag, personal } from '../platform/personal.ts'
import { createIdentity, deleteIdentity, listIdentities, readIdentity, subject, updateIdentity } from './identities.ts'
import { Identity } from './identity-object.ts'
import { IdentityChanges, NewIdentity, parseIdentityChanges, parseNewIdentity } from './requests.ts'

const tag = 'Identities'
export const IdentityPath = { identity_id: idInPath('identity') }

/** Identities: the senders of outreach. */
export const IDENTITY_OPERATIONS = [
  operation({
    name: 'listIdentities',
    tag,
    http: 'GET /v1/identities',
    command: 'identity list',
    scope: 'identities:read',
    summary: 'List the identities, newest first',
    input: {
      search: searchText('Words that must all occur in the name, the role, the job title or the address.'),
      ...pageParameters(100, 100),
    },
    output: { identities: Type.Array(Identity), total_items: Type.Integer(), pagination: Pagination },
    async run({ tenant }, { search, page, limit }) {
      const { identities, total } = await listIdentities(tenant, search, { page, limit })
      return { identities, total_items: total, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'createIdentity',
    tag,
    http: 'POST /v1/identities',
    command: 'identity create',
    scope: 'identities:write',
    summary: 'Create an identity',
    input: NewIdentity,
    output: { identity: Identity },
    status: 201,
    example: { firstName: 'Ada', lastName: 'Lovelace', role: 'Account executive' },
    errors: ['409 too_many_identities'],
    run: async ({ tenant, now }, input) => ({ identity: await createIdentity(tenant, parseNewIdentity(input), now) }),
    audit: ({ identity: { identity_id, firstName, lastName, role } }) => ({
      action: 'identity.created',
      ...subject(identity_id),
      details: { firstName, lastName, role },
    }),
  }),
  operation({
    name: 'getIdentity',
    tag,
    http: 'GET /v1/identities/:identity_id',
    command: 'identity get',
    scope: 'identities:read',
    summary: 'Get an identity; its credentials are never returned',
    input: IdentityPath,
    output: { identity: Identity },
    run: async ({ tenant }, { identity_id }) => ({ identity: await readIdentity(tenant, identity_id) }),
  }),
  operation({
    name: 'updateIdentity',
    tag,
    http: 'PUT /v1/identities/:identity_id',
    command: 'identity update',
    scope: 'identities:write',
    summary: 'Change an identity; omitted fields keep their values',
    input: { ...IdentityPath, ...IdentityChanges },
    output: { identity: Identity },
    forAudit: { changed: Type.Record(Type.String(), Type.Unknown(), bag('person')) },
    example: { jobTitle: 'Head of sales' },
    run: ({ tenant, now }, { identity_id, ...changes }) =>
      updateIdentity(tenant, identity_id, parseIdentityChanges(changes), now),
    audit: ({ identity, changed }) =>
      Object.keys(changed).length === 0
        ? null
        : { action: 'identity.updated', ...subject(identity.identity_id), details: changed },
  }),
  operation({
    name: 'deleteIdentity',
    tag,
    http: 'DELETE /v1/identities/:identity_id',
    command: 'identity delete',
    scope: 'identities:write',
    summary: 'Delete an identity with its email account; agents that used it lose their default',
    input: IdentityPath,
    output: { deleted: Type.Literal(true), identity_id: Id },
    forAudit: { firstName: Type.String(personal('firstname')), lastName: Type.String(personal('lastname')) },
    async run({ tenant }, { identity_id }) {
      const name = await deleteIdentity(tenant, identity_id)
      return { deleted: true as const, identity_id, ...name }
    },
    audit: ({ identity_id, firstName, lastName }) => ({
      action: 'identity.deleted',
      ...subject(identity_id),
      details: { firstName, lastName },
    }),
  }),
]
