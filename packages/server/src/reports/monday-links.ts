import { evenIfClosed } from '../platform/closed-tenants.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { App } from '../platform/http/app-types.ts'
import { isUuid } from '../platform/ids.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { unsubscribeLinks } from '../platform/unsubscribe/links.ts'

const PATH = '/unsubscribe/dashboard'
/** Where its tokens belong: a secret that the service sealed for another place is none of them. */
const PLACE = 'dashboard_subscriptions/unsubscribe'

interface Subscriber {
  tenantId: string
  dashboardId: string
  userId: string
}

/**
 * The link in a mail that ends its subscription. The token is sealed, so nobody can make one or read whose it is, and needs no row:
 * the mail of the next Monday has a new one, should the service's keys change.
 */
export function mondayUnsubscribeUrl(
  { publicUrl, secrets }: { publicUrl: string; secrets: SecretBox },
  { tenantId, dashboardId, userId }: Subscriber,
): string {
  const token = secrets.seal([tenantId, dashboardId, userId].join(' '), PLACE)
  return `${publicUrl}${PATH}/${token}`
}

function readToken(secrets: SecretBox, token: string): Subscriber | null {
  const ids = opened(secrets, token).split(' ')
  const [tenantId = '', dashboardId = '', userId = ''] = ids
  return ids.length === 3 && ids.every(isUuid) ? { tenantId, dashboardId, userId } : null
}

function opened(secrets: SecretBox, token: string): string {
  try {
    return secrets.open(token, PLACE)
  } catch {
    // Cut off, invented, or older than the keys.
    return ''
  }
}

/** The targets of these links. Whoever has the mail needs no account, and can end this one subscription and nothing else. */
export async function mondayRoutes(
  app: App,
  { stores, secrets }: { stores: Stores; secrets: SecretBox },
): Promise<void> {
  unsubscribeLinks(app, {
    path: `${PATH}/:token`,
    question: 'Do you want to stop the mail about this dashboard each Monday?',
    done: 'You will no longer get the mail about this dashboard. To get it again, turn on “Mail me each Monday” in the menu of the dashboard.',
    invalid:
      'Your mail program may have cut it off. Copy the whole link from the mail, or open the dashboard and turn off “Mail me each Monday” in its menu.',
    find: async (token) => readToken(secrets, token),
    async unsubscribe({ tenantId, dashboardId, userId }) {
      // Even while it is closed: once it is reopened, it sends mail again.
      await openTenant(evenIfClosed(stores), tenantId)
        .db.deleteFrom('dashboard_subscriptions')
        .where('dashboard_id', '=', dashboardId)
        .where('user_id', '=', userId)
        .execute()
    },
  })
}
