import type { Actor } from '../audit/log.ts'
import { addSuppression, listSuppressions, readSuppression, removeSuppression } from '../identities/suppression-list.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Command, existingTenant, numberOf, optional, required, tenant } from './command.ts'

const ACTOR: Actor = { kind: 'command_line' }
const LIMIT_MAX = 10_000
const address = required('EMAIL')

/** What `cdsctl suppression …` can do. */
export const SUPPRESSION_COMMANDS: Record<string, Command> = {
  'suppression list': {
    summary: 'List the addresses that get no more mail and why, the latest first; or ask about one',
    options: { tenant, address: optional('EMAIL'), limit: optional('1000') },
    run: async (session, values) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      if (values.address !== undefined) return { ...(await readSuppression(owner, String(values.address))) }
      const limit = numberOf(values, 'limit', 1_000)
      if (limit < 1 || limit > LIMIT_MAX) {
        throw new ServiceError(400, 'invalid_option', `--limit must be a whole number from 1 to ${LIMIT_MAX}.`)
      }
      return listSuppressions(owner, limit)
    },
  },
  'suppression add': {
    summary: 'Send no more mail to an address',
    options: { tenant, address, details: optional('TEXT') },
    run: async (session, values, now) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      const details = values.details === undefined ? null : String(values.details)
      return { ...(await addSuppression(owner, ACTOR, { address: String(values.address), details }, now)) }
    },
  },
  'suppression remove': {
    summary:
      'Let mail go to an address again; --consented says that its owner, who unsubscribed or complained, has agreed since',
    options: { tenant, address, consented: { type: 'boolean' } },
    run: async (session, values) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      const wanted = { address: String(values.address), isConsented: values.consented === true }
      return { ...(await removeSuppression(owner, session.writing(), ACTOR, wanted)), removed: true }
    },
  },
}
