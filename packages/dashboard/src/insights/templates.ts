import type { Property } from '../api/types.ts'
import { FUNNEL, PATHS, RETENTION, TREND } from './kinds.ts'

/*
 * Questions that a workspace can begin with. Which events they are about follows from the names of those that were seen: what
 * is not there is not guessed.
 */

/** Somebody gets an account, in the words that products use for it; the first pattern that an event matches wins. */
const SIGN_UPS = [
  /^((user|account|customer|trial)_)?(sign(ed)?_?up|register(ed)?|registration)(_(completed?|succeeded|success|finished|done))?$/,
  /^((user|account|customer)_created|created?_(user|account)|trial_started|started?_trial)$/,
  /^form_submi(t|ssion)$/,
]
/** Somebody does what a product is for, for the first time. */
const ACTIVATIONS = [/(^|_)(activated|activation|onboarded|onboarding_(completed?|finished))$/, /^first_(?!visit$)/]
/** Somebody pays. */
const PURCHASES = [
  /(^|_)(purchased?|bought|paid)$/,
  /(^|_)(order|payment|checkout|subscription|purchase)_(placed|completed|succeeded|received|created|started|finished)$/,
  // The connectors of CRMs.
  /^deal_won$/,
]
/** What the tracker sends by itself, which says little about what a product is for. */
const TRACKED = /^(page_(view|leave)|first_visit|(button|link)_click|form_submi(t|ssion)|video_.+)$/
const MONEY = /(^|[._])(amount|revenue|total|price|value)([._]|$)/i

/** A question that can be opened, about events that were seen; without them, what is missing. */
export interface Template {
  id: 'signUp' | 'retention' | 'activation' | 'beforeSignUp' | 'revenue'
  kind: 'trend' | 'funnel' | 'retention' | 'paths'
  /** The names of its events, in the order of the question. */
  events: readonly string[]
  question: object | null
  missing?: 'signUp' | 'activation' | 'purchase' | 'money'
}

/** The event of a purchase, whose properties say how much it was. */
export function purchaseIn(events: readonly string[]): string | undefined {
  return firstMatch(events, PURCHASES)
}

/**
 * @param events the names that were seen, most frequent first
 * @param ofPurchase the properties of the event that `purchaseIn` finds
 */
export function templatesFor(events: readonly string[], ofPurchase: readonly Property[]): Template[] {
  const signUp = firstMatch(events, SIGN_UPS)
  const purchase = purchaseIn(events)
  const others = events.filter((event) => event !== signUp && !TRACKED.test(event))
  const activation = firstMatch(others, ACTIVATIONS) ?? others.find((event) => event !== purchase) ?? others[0]
  const money = ofPurchase.find(({ name, kinds }) => kinds.includes('number') && MONEY.test(name))
  const seen = events.includes('page_view') ? ['page_view'] : []
  const steps = [...seen, signUp, activation].filter((event) => event !== undefined)
  return [
    signUp === undefined || steps.length < 2
      ? { id: 'signUp', kind: 'funnel', events: [], question: null, missing: 'signUp' }
      : { id: 'signUp', kind: 'funnel', events: steps, question: FUNNEL.propose(steps) },
    { id: 'retention', kind: 'retention', events: [], question: RETENTION.propose(events) },
    activationTemplate(signUp, activation),
    signUp === undefined
      ? { id: 'beforeSignUp', kind: 'paths', events: [], question: null, missing: 'signUp' }
      : {
          id: 'beforeSignUp',
          kind: 'paths',
          events: [signUp],
          question: { ...PATHS.propose([]), to: signUp },
        },
    purchase === undefined
      ? { id: 'revenue', kind: 'trend', events: [], question: null, missing: 'purchase' }
      : money === undefined
        ? { id: 'revenue', kind: 'trend', events: [purchase], question: null, missing: 'money' }
        : {
            id: 'revenue',
            kind: 'trend',
            events: [purchase],
            question: {
              ...TREND.propose([purchase]),
              series: [{ event: purchase, metric: 'sum', property: money.name }],
              breakdown: ['utm_campaign'],
            },
          },
  ]
}

/** Who did the first thing that matters within a week of signing up. */
function activationTemplate(signUp: string | undefined, activation: string | undefined): Template {
  const template = { id: 'activation', kind: 'funnel' } as const
  if (signUp === undefined) return { ...template, events: [], question: null, missing: 'signUp' }
  if (activation === undefined) return { ...template, events: [signUp], question: null, missing: 'activation' }
  const events = [signUp, activation]
  return { ...template, events, question: FUNNEL.propose(events) }
}

/** The most frequent event of the first pattern that has one. */
function firstMatch(events: readonly string[], patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = events.find((event) => pattern.test(plainName(event)))
    if (found !== undefined) return found
  }
  return undefined
}

/** `Signed Up`, `signedUp` and `signed-up` are the same name. */
function plainName(event: string): string {
  return event
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toLowerCase()
}
