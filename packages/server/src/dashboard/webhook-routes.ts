import Type from 'typebox'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { Id, pathId, success, Timestamp } from '../platform/http/responses.ts'
import type { Outbound } from '../platform/outbound/client.ts'
import { type Clock, parseTimestamp } from '../platform/time.ts'
import { sendTest } from '../webhooks/resend.ts'
import { rotateSecret } from '../webhooks/rotate-secret.ts'
import {
  addSubscription,
  changeSubscription,
  checkChanges,
  checkSubscription,
  deleteSubscription,
  listSubscriptions,
  pauseSubscription,
  readSubscription,
  resumeSubscription,
} from '../webhooks/subscriptions.ts'
import { ADMIN, VIEWER } from './access.ts'
import { audited } from './audited.ts'
import { ChangeWebhookBody, CreateWebhookBody, RotateBody, Webhook } from './webhook-schema.ts'

const Path = Type.Object({ subscription_id: Type.String() })
const OneWebhook = success({ webhook: Webhook })
const WHAT = 'webhook subscription'

export interface WebhookDependencies {
  clock: Clock
  secrets: SecretBox
  outbound: Outbound
}

/** Webhook subscriptions: all that the command line can do with them, and changes. */
export function webhookRoutes(app: App, dependencies: WebhookDependencies): void {
  const { clock, secrets } = dependencies

  app.get(
    '/api/webhooks',
    {
      config: { access: VIEWER },
      schema: { hide: true, response: { 200: success({ webhooks: Type.Array(Webhook) }) } },
    },
    async ({ tenant }) => ({ status: 'success' as const, webhooks: await listSubscriptions(tenant) }),
  )

  app.post(
    '/api/webhooks',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        body: CreateWebhookBody,
        response: { 201: success({ webhook: Webhook, signing_secret: Type.String() }) },
      },
    },
    async (request, reply) => {
      const now = clock()
      const { event, url, url_filter, headers } = request.body
      const settings = { event, url, urlFilter: url_filter ?? undefined, ...(headers ? { headers } : {}) }
      const checked = await checkSubscription(dependencies, settings)
      const { subscriptionId, signingSecret } = await audited(
        request,
        now,
        (tx) => addSubscription(tx, dependencies, checked, now),
        (made) => ({ ...entryOf('webhook.created', made.subscriptionId), details: { event, host: new URL(url).host } }),
      )
      const webhook = await readSubscription(request.tenant, subscriptionId)
      return reply.code(201).send({ status: 'success', webhook, signing_secret: signingSecret })
    },
  )

  app.get(
    '/api/webhooks/:subscription_id',
    { config: { access: VIEWER }, schema: { hide: true, params: Path, response: { 200: OneWebhook } } },
    async ({ tenant, params }) => {
      const webhook = await readSubscription(tenant, params.subscription_id)
      return { status: 'success' as const, webhook }
    },
  )

  app.patch(
    '/api/webhooks/:subscription_id',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Path, body: ChangeWebhookBody, response: { 200: OneWebhook } },
    },
    async (request) => {
      const now = clock()
      const id = pathId(request.params.subscription_id, WHAT)
      const { url, url_filter, headers } = request.body
      const checked = await checkChanges(dependencies, {
        ...(url === undefined ? {} : { url }),
        ...(headers === undefined ? {} : { headers }),
        urlFilter: url_filter,
      })
      await audited(
        request,
        now,
        (tx) => changeSubscription(tx, dependencies, id, checked, now),
        (changed) => (changed.length > 0 ? { ...entryOf('webhook.updated', id), details: { changed } } : null),
      )
      return { status: 'success' as const, webhook: await readSubscription(request.tenant, id) }
    },
  )

  app.delete(
    '/api/webhooks/:subscription_id',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), subscription_id: Id }) },
      },
    },
    async (request) => {
      const id = pathId(request.params.subscription_id, WHAT)
      await audited(
        request,
        clock(),
        (tx) => deleteSubscription(tx, id),
        () => entryOf('webhook.deleted', id),
      )
      return { status: 'success' as const, deleted: true as const, subscription_id: id }
    },
  )

  const stopOrStart = { pause: pauseSubscription, resume: resumeSubscription }
  for (const [verb, work] of Object.entries(stopOrStart)) {
    app.post(
      `/api/webhooks/:subscription_id/${verb}`,
      { config: { access: ADMIN }, schema: { hide: true, params: Path, response: { 200: OneWebhook } } },
      async (request) => {
        const now = clock()
        const id = pathId(request.params.subscription_id, WHAT)
        await audited(
          request,
          now,
          (tx) => work(tx, id, now),
          () => entryOf(`webhook.${verb}d`, id),
        )
        return { status: 'success' as const, webhook: await readSubscription(request.tenant, id) }
      },
    )
  }

  app.post(
    '/api/webhooks/:subscription_id/rotate',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Path,
        body: RotateBody,
        response: {
          200: success({ signing_secret: Type.String(), previous_secret_until: Timestamp, switch_at: Timestamp }),
        },
      },
    },
    async (request) => {
      const now = clock()
      const id = pathId(request.params.subscription_id, WHAT)
      const { overlap_hours, switch_at } = request.body
      const rotation = {
        ...(overlap_hours === undefined ? {} : { overlapSeconds: Math.round(overlap_hours * 3_600) }),
        ...(switch_at === undefined ? {} : { switchAt: momentOf('switch_at', switch_at, 'start') }),
      }
      const rotated = await audited(
        request,
        now,
        (tx) => rotateSecret(tx, secrets, id, rotation, now),
        () => entryOf('webhook.secret_rotated', id),
      )
      return {
        status: 'success' as const,
        signing_secret: rotated.signingSecret,
        previous_secret_until: rotated.previousUntil.toISOString(),
        switch_at: rotated.switchAt.toISOString(),
      }
    },
  )

  app.post(
    '/api/webhooks/:subscription_id/test',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Path, response: { 202: success({ delivery_id: Id }) } },
    },
    async (request, reply) => {
      const now = clock()
      const id = pathId(request.params.subscription_id, WHAT)
      const deliveryId = await audited(
        request,
        now,
        (tx) => sendTest(tx, id, now),
        (delivery_id) => ({ ...entryOf('webhook.tested', id), details: { delivery_id } }),
      )
      return reply.code(202).send({ status: 'success', delivery_id: deliveryId })
    },
  )
}

/** A moment in a body. @throws ServiceError 400 */
export function momentOf(path: string, text: string, dayMeans: 'start' | 'end'): Date {
  const moment = parseTimestamp(text, dayMeans)
  if (!moment) throw validationError([{ path, message: `must be ${TIMESTAMP_FORM}` }])
  return moment
}

function entryOf(action: string, subscriptionId: string) {
  return { action, subjectKind: 'webhook', subjectId: subscriptionId }
}
