import Type from 'typebox'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { operation, operationsWith } from '../operations/declare.ts'
import { emailInput } from '../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import {
  addressInPath,
  addSuppression,
  listSuppressions,
  readSuppression,
  removeSuppression,
  SuppressionDescription,
  subject,
} from './suppression-list.ts'
import { isOwnersChoice } from './suppressions.ts'

const tag = 'Suppressions'
const AddressPath = { address: Type.String({ description: 'The email address.', examples: ['ada@example.com'] }) }

/** Suppressed addresses. They belong to contacts, so reading them needs a scope of contacts. */
export const SUPPRESSION_OPERATIONS = [
  operation({
    name: 'listSuppressions',
    tag,
    http: 'GET /v1/suppressions',
    command: 'suppression list',
    scope: 'contacts:read',
    summary: 'List suppressed addresses with the reason, latest first',
    input: pageParameters(100, 1_000),
    output: { suppressions: Type.Array(SuppressionDescription), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { suppressions, total } = await listSuppressions(tenant, { page, limit })
      return { suppressions, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'addSuppression',
    tag,
    http: 'POST /v1/suppressions',
    command: 'suppression add',
    scope: 'identities:write',
    summary: 'Suppress an address, so that no more mail is sent to it',
    description: 'An address that is already suppressed is left unchanged.',
    input: {
      address: emailInput({ examples: ['ada@example.com'] }),
      details: Type.Optional(Type.String({ maxLength: 500, description: 'A note on the reason.' })),
    },
    output: {
      suppression: SuppressionDescription,
      added: Type.Boolean({ description: 'false if the address was already suppressed.' }),
    },
    status: 201,
    example: { address: 'ada@example.com', details: 'asked by phone' },
    run: ({ tenant, now }, { address, details = null }) => addSuppression(tenant, { address, details }, now),
    audit: ({ suppression, added }, _input, { tenant }) =>
      added ? { action: 'suppression.added', ...subject(tenant, suppression.address) } : null,
  }),
  operation({
    name: 'getSuppression',
    tag,
    http: 'GET /v1/suppressions/:address',
    command: 'suppression get',
    scope: 'contacts:read',
    summary: 'Get the reason why an address is suppressed; 404 if it is not',
    input: AddressPath,
    output: { suppression: SuppressionDescription },
    errors: ['404 not_found'],
    run: async ({ tenant }, { address }) => ({ suppression: await readSuppression(tenant, address) }),
  }),
  operationsWith<WriteDependencies>()({
    name: 'removeSuppression',
    tag,
    http: 'DELETE /v1/suppressions/:address',
    command: 'suppression remove',
    scope: 'identities:write',
    also: [{ scopes: ['contacts:write'] }],
    summary: 'Allow mail to an address again',
    description: 'If its owner unsubscribed or complained, their contact becomes subscribed again.',
    input: {
      ...AddressPath,
      consented: flag(
        'Whether the owner of the address has agreed to mail since they unsubscribed or complained. You must be able to prove it.',
        false,
      ),
    },
    output: { deleted: Type.Literal(true), suppression: SuppressionDescription },
    errors: ['404 not_found', '409 consent_required', '413 contact_too_large'],
    async run({ tenant, ...writing }, { address, consented = false }) {
      const suppression = await removeSuppression(tenant, writing, { address, isConsented: consented })
      return { deleted: true as const, suppression }
    },
    audit: ({ suppression: { reason } }, { address }, { tenant }) => ({
      action: 'suppression.removed',
      ...subject(tenant, addressInPath(address)),
      details: { reason, ...(isOwnersChoice(reason) ? { consented: true } : {}) },
    }),
  }),
]
