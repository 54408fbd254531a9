import Type from 'typebox'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { conflict } from '../platform/errors.ts'
import { Id } from '../platform/http/responses.ts'
import type { Mailer } from '../platform/mail.ts'
import { TEXT } from '../platform/personal.ts'
import { entryOf } from './dashboard-operations.ts'
import { lockTiles, readDashboard } from './dashboards.ts'
import { Subscription, subscribe, unsubscribe } from './subscriptions.ts'

const tag = 'Dashboards'
const DashboardPath = { dashboard_id: idInPath('dashboard') }

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
    forAudit: { name: Type.String(TEXT), is_new: Type.Boolean() },
    errors: ['403 person_required', '409 mail_not_configured'],
    async run(context, { dashboard_id }) {
      await lockTiles(context.tenant)
      const { name } = await readDashboard(context.tenant, dashboard_id)
      if (context.mailer === null) {
        throw conflict('mail_not_configured', 'This service cannot send mail. Its operator can set CDS_SMTP_URL.')
      }
      const { subscription, isNew } = await subscribe(context, dashboard_id)
      return { subscription, name, is_new: isNew }
    },
    audit: ({ name, is_new }, { dashboard_id }) =>
      is_new ? entryOf('dashboard.subscribed', dashboard_id, { name }) : null,
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
    forAudit: { name: Type.String(TEXT) },
    errors: ['403 person_required'],
    async run(context, { dashboard_id }) {
      const { name } = await readDashboard(context.tenant, dashboard_id)
      await unsubscribe(context, dashboard_id)
      return { deleted: true as const, dashboard_id, name }
    },
    audit: ({ name }, { dashboard_id }) => entryOf('dashboard.unsubscribed', dashboard_id, { name }),
  }),
]
