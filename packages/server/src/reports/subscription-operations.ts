import Type from 'typebox'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { conflict } from '../platform/errors.ts'
import { Id } from '../platform/http/responses.ts'
import type { Mailer } from '../platform/mail.ts'
import { lockTiles, readDashboard } from './dashboards.ts'
import { Subscription, subscribe, unsubscribe } from './subscriptions.ts'

const tag = 'Dashboards'
const DashboardPath = { dashboard_id: idInPath('dashboard') }

/** Whoever reads may do it as often as they like, so it must leave nothing behind. */
const UNAUDITED = 'concerns nobody else'

const subscriptionOperation = operationsWith<{ mailer: Mailer | null }>()

export const SUBSCRIPTION_OPERATIONS = [
  subscriptionOperation({
    name: 'subscribeToDashboard',
    tag,
    http: 'PUT /v1/dashboards/:dashboard_id/subscription',
    command: 'dashboard subscribe',
    scope: 'events:read',
    summary: 'Get the figures of a dashboard by mail each Monday',
    description:
      'For the person who is signed in; an API key has no mail address. The mail is sent from 08:00 in the time zone of the workspace. It has the main figure of each report in the week that is over, beside that of the week before.',
    input: DashboardPath,
    output: { subscription: Subscription },
    errors: ['403 person_required', '409 mail_not_configured'],
    async run(context, { dashboard_id }) {
      await lockTiles(context.tenant)
      await readDashboard(context.tenant, dashboard_id)
      if (context.mailer === null) {
        throw conflict('mail_not_configured', 'This service cannot send mail. Its operator can set CDS_SMTP_URL.')
      }
      return { subscription: await subscribe(context, dashboard_id) }
    },
    isAtomic: true,
    unaudited: UNAUDITED,
  }),
  subscriptionOperation({
    name: 'unsubscribeFromDashboard',
    tag,
    http: 'DELETE /v1/dashboards/:dashboard_id/subscription',
    command: 'dashboard unsubscribe',
    scope: 'events:read',
    summary: 'Stop the mail of a dashboard to the person who is signed in',
    input: DashboardPath,
    output: { deleted: Type.Literal(true), dashboard_id: Id },
    errors: ['403 person_required'],
    async run(context, { dashboard_id }) {
      await readDashboard(context.tenant, dashboard_id)
      await unsubscribe(context, dashboard_id)
      return { deleted: true as const, dashboard_id }
    },
    isAtomic: true,
    unaudited: UNAUDITED,
  }),
]
