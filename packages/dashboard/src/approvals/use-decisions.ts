import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Action,
  type ActionPlace,
  actionKey,
  approveAction,
  decideAll,
  refreshApprovals,
  rejectAction,
} from '../api/approvals.ts'
import { ApiError } from '../api/client.ts'
import { messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

export type Verb = 'approve' | 'reject'

/** What happened to an action since the inbox was read. */
export type Outcome =
  /** Shown as decided before the service has confirmed it. */
  | { state: 'sending'; verb: Verb }
  | { state: 'done'; verb: Verb; action: Action }
  /** Someone else decided it first, or it is no longer pending. */
  | { state: 'gone'; message: string }
  /** Still pending. */
  | { state: 'refused'; message: string }

/** Decides actions: a decision shows at once, and its result as soon as the service responds. */
export function useDecisions() {
  const queryClient = useQueryClient()
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const set = (entries: [string, Outcome][]) => setOutcomes((before) => new Map([...before, ...entries]))
  const finish = () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: ['approvals', 'count'] }),
      queryClient.invalidateQueries({ queryKey: ['agents'] }),
    ])

  const decide = async (place: ActionPlace, verb: Verb, work: () => Promise<{ action: Action }>) => {
    const key = actionKey(place)
    set([[key, { state: 'sending', verb }]])
    try {
      const { action } = await work()
      set([[key, { state: 'done', verb, action }]])
    } catch (error) {
      set([[key, failureOf(error)]])
    }
    await finish()
  }

  return {
    outcomes,
    approve: (place: ActionPlace, params?: Record<string, unknown>) =>
      decide(place, 'approve', () => approveAction(place, params)),
    /** Shows why actions cannot be approved, without asking the service. */
    refuse: (refused: { place: ActionPlace; message: string }[]) =>
      set(refused.map(({ place, message }) => [actionKey(place), { state: 'refused', message }])),
    reject: (place: ActionPlace, reason: string) => decide(place, 'reject', () => rejectAction(place, reason)),
    decideMany: async (verb: Verb, places: ActionPlace[], reason = '') => {
      if (places.length === 0) return
      set(places.map((place) => [actionKey(place), { state: 'sending', verb }]))
      try {
        const decisions = await decideAll(verb, places, reason)
        set(decisions.map((decision) => [actionKey(decision), outcomeOf(verb, decision)]))
      } catch (error) {
        set(places.map((place) => [actionKey(place), failureOf(error)]))
      }
      await finish()
    },
    /** Refetches the inbox, without the decided actions. */
    startOver: async () => {
      await refreshApprovals(queryClient)
      setOutcomes(new Map())
    },
  }
}

function outcomeOf(
  verb: Verb,
  { action, error }: { action: Action | null; error: { code: string; message: string } | null },
): Outcome {
  if (action) return { state: 'done', verb, action }
  const { code, message } = error ?? { code: 'unknown', message: text.noResult }
  return { state: isGone(code) ? 'gone' : 'refused', message }
}

function failureOf(error: unknown): Outcome {
  const code = error instanceof ApiError ? error.code : ''
  return { state: isGone(code) ? 'gone' : 'refused', message: messageOf(error) }
}

function isGone(code: string): boolean {
  return code === 'invalid_action_state' || code === 'not_found'
}
