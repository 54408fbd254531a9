import type { SourceKind } from '../contacts/writing/source-records.ts'
import type { Field, Mapping } from './mapping.ts'

export const HOOK_KINDS = ['custom', 'stripe', 'calendly', 'typeform', 'cal.com'] as const
export type HookKind = (typeof HOOK_KINDS)[number]

/** How a sender signs a body: `timed` signs the time, a dot and the body; `plain` signs only the body. */
export interface SignatureScheme {
  header: string
  form: 'timed' | 'plain'
}

const at = (...path: string[]): Field => ({ path: path.length === 1 ? (path[0] ?? '') : path })

/**
 * Cal.com's booking events. Other events have no attendee: `PING`, which tests a URL, form events and out-of-office
 * events.
 */
const CAL_BOOKING_EVENTS = [
  'BOOKING_CREATED', 'BOOKING_RESCHEDULED', 'BOOKING_CANCELLED', 'BOOKING_REQUESTED', 'BOOKING_REJECTED', 'BOOKING_PAID',
  'BOOKING_PAYMENT_INITIATED', 'BOOKING_NO_SHOW_UPDATED', 'MEETING_STARTED', 'MEETING_ENDED', 'RECORDING_READY',
] // biome-ignore format: a list

interface ReadyMade {
  /** `form`: its bodies contain values that anyone may type into a form or a booking page, such as another person's address. */
  source: Extract<SourceKind, 'crm' | 'form'>
  signature: SignatureScheme
  mapping: Mapping
}

/** The kinds with a ready-made mapping and signature check. See docs/hooks.md. */
const READY_MADE: Record<Exclude<HookKind, 'custom'>, ReadyMade> = {
  stripe: {
    source: 'crm',
    signature: { header: 'stripe-signature', form: 'timed' },
    mapping: {
      event: {
        name: at('type'),
        timestamp: at('created'),
        id: at('id'),
        url: at('data.object.hosted_invoice_url', 'data.object.receipt_url'),
        data: {
          object: at('data.object.object'),
          object_id: at('data.object.id'),
          status: at('data.object.status'),
          // In the smallest unit of the currency, as Stripe sends them.
          amount: at('data.object.amount_paid', 'data.object.amount_total', 'data.object.amount'),
          currency: at('data.object.currency'),
          number: at('data.object.number'),
          subscription: at('data.object.subscription', 'data.object.parent.subscription_details.subscription'),
          description: at('data.object.description'),
          livemode: at('livemode'),
        },
      },
      contact: {
        email: at(
          'data.object.customer_email',
          'data.object.customer_details.email',
          'data.object.email',
          'data.object.receipt_email',
          'data.object.billing_details.email',
        ),
        external_id: {
          path: ['data.object.customer', 'data.object.customer.id', 'data.object.id'],
          starts_with: 'cus_',
        },
        properties: {
          // The name of a person or a business, so it does not become the first name.
          name: at(
            'data.object.customer_name',
            'data.object.customer_details.name',
            'data.object.name',
            'data.object.billing_details.name',
          ),
          stripe_customer_id: {
            path: ['data.object.customer', 'data.object.customer.id', 'data.object.id'],
            starts_with: 'cus_',
          },
        },
      },
    },
  },
  calendly: {
    source: 'form',
    signature: { header: 'calendly-webhook-signature', form: 'timed' },
    mapping: {
      event: {
        name: at('event'),
        timestamp: at('created_at'),
        id: at('payload.uri'),
        data: {
          event_type: at('payload.scheduled_event.name'),
          start_time: at('payload.scheduled_event.start_time'),
          end_time: at('payload.scheduled_event.end_time'),
          status: at('payload.status'),
          rescheduled: at('payload.rescheduled'),
          cancellation_reason: at('payload.cancellation.reason'),
          answers: at('payload.questions_and_answers'),
        },
      },
      contact: {
        email: at('payload.email'),
        properties: {
          // Event types ask for one name, or for both.
          firstname: at('payload.first_name', 'payload.name'),
          lastname: at('payload.last_name'),
          phone: at('payload.text_reminder_number'),
          timezone: at('payload.timezone'),
        },
      },
    },
  },
  typeform: {
    source: 'form',
    signature: { header: 'typeform-signature', form: 'plain' },
    mapping: {
      event: {
        name: at('event_type'),
        timestamp: at('form_response.submitted_at'),
        id: at('form_response.token', 'event_id'),
        data: {
          form_id: at('form_response.form_id'),
          form_title: at('form_response.definition.title'),
          answers: at('form_response.answers'),
          hidden: at('form_response.hidden'),
        },
      },
      contact: {
        email: at('form_response.answers[*].email', 'form_response.hidden.email'),
        properties: { phone: at('form_response.answers[*].phone_number') },
      },
    },
  },
  'cal.com': {
    source: 'form',
    signature: { header: 'x-cal-signature-256', form: 'plain' },
    mapping: {
      only_when: [{ path: 'triggerEvent', equals: CAL_BOOKING_EVENTS }],
      event: {
        name: at('triggerEvent'),
        timestamp: at('createdAt'),
        id: at('payload.uid', 'uid'),
        data: {
          event_type: at('payload.type', 'type'),
          title: at('payload.title', 'title'),
          start_time: at('payload.startTime', 'startTime'),
          end_time: at('payload.endTime', 'endTime'),
          status: at('payload.status', 'status'),
          location: at('payload.location', 'location'),
          cancellation_reason: at('payload.cancellationReason'),
          rescheduled_from: at('payload.rescheduleUid'),
        },
      },
      contact: {
        email: at('payload.attendees[0].email', 'attendees[0].email'),
        properties: {
          // Event types ask for one name, or for both.
          firstname: at(
            'payload.attendees[0].firstName',
            'attendees[0].firstName',
            'payload.attendees[0].name',
            'attendees[0].name',
          ),
          lastname: at('payload.attendees[0].lastName', 'attendees[0].lastName'),
          timezone: at('payload.attendees[0].timeZone', 'attendees[0].timeZone'),
        },
      },
    },
  },
}

/** The initial mapping of a hook, by kind. */
export function firstMapping(kind: HookKind): Mapping {
  return kind === 'custom' ? {} : READY_MADE[kind].mapping
}

/** The kind of a hook's source, which decides whose values it may replace; see contacts/writing/source-trust.ts. */
export function sourceKindOf(kind: HookKind): ReadyMade['source'] {
  return kind === 'custom' ? 'crm' : READY_MADE[kind].source
}

/** How a hook's bodies are signed; null if they are not. */
export function schemeOf(kind: HookKind, chosenHeader: string | null): SignatureScheme | null {
  if (kind !== 'custom') return READY_MADE[kind].signature
  return chosenHeader === null ? null : { header: chosenHeader, form: 'plain' }
}
