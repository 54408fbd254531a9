import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import { evenIfClosed } from '../../platform/closed-tenants.ts'
import type { App } from '../../platform/http/app-types.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { unsubscribeLinks } from '../../platform/unsubscribe/links.ts'
import { readUnsubscribeToken } from './token.ts'
import { findUnsubscribeLink, unsubscribe } from './unsubscribe.ts'

/** The targets of the unsubscribe links in mails to contacts. */
export async function unsubscribeRoutes(app: App, dependencies: WriteDependencies & { stores: Stores }): Promise<void> {
  const { stores, clock } = dependencies
  unsubscribeLinks(app, {
    path: '/unsubscribe/:token',
    question: 'Do you want to stop receiving mail from us at this address?',
    done: 'You will no longer receive mail from us at this address.',
    invalid:
      'Your mail program may have cut it off, or it may be more than a year old. Copy the whole link from the mail, or reply to the mail and ask to be unsubscribed.',
    async find(token) {
      const known = readUnsubscribeToken(token)
      if (!known) return null
      // Even while it is closed: once it is reopened, it sends mail again.
      const tenant = openTenant(evenIfClosed(stores), known.tenantId)
      const link = await findUnsubscribeLink(tenant, known.hash, clock())
      return link && { tenant, link }
    },
    unsubscribe: ({ tenant, link }) => unsubscribe(tenant, dependencies, link),
  })
}
