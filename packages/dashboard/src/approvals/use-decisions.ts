import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { actionKey } from '../agents/action-words.ts'
import { ApiError, call } from '../api/client.ts'
import { keyOf } from '../api/operation.ts'
import type { Action, ActionPlace, Decision } from '../api/types.ts'
import { messageOf } from '../ui/states.tsx'
import { pathOf } from './execution.tsx'
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

/** Decisions of one key or click, which are undone together. */
export interface Undoable {
  verb: Verb
  places: readonly ActionPlace[]
}

export interface Progress {
  verb: Verb
  done: number
  total: number
}

/** An approved action waits for this long before it executes, so that there is time to undo. */
const HOLD_SECONDS = 6
/** Actions in one request: few, so that the progress of many shows. */
const AT_ONCE = 5

/** Decides actions: a decision shows at once, its result as soon as the service responds, and it can be undone for some seconds. */
export function useDecisions() {
  const queryClient = useQueryClient()
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  /** The latest is the last. */
  const [undoable, setUndoable] = useState<readonly Undoable[]>([])
  const [progress, setProgress] = useState<Progress | null>(null)
  /** What became of the last undo or of many decisions, for the bar that says it. */
  const [notice, setNotice] = useState<string | null>(null)
  const set = (entries: [string, Outcome][]) => setOutcomes((before) => new Map([...before, ...entries]))
  const refresh = () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: keyOf('listApprovals', { limit: 1 }), exact: true }),
      queryClient.invalidateQueries({ queryKey: ['agents'] }),
    ])
  const forget = (done: Undoable) => setUndoable((before) => before.filter((each) => each !== done))
  const hold = (done: Undoable) => {
    if (done.places.length === 0) return
    setUndoable((before) => [...before, done])
    setTimeout(() => forget(done), HOLD_SECONDS * 1_000)
  }

  const decide = async (place: ActionPlace, verb: Verb, work: () => Promise<{ action: Action }>) => {
    const key = actionKey(place)
    setNotice(null)
    set([[key, { state: 'sending', verb }]])
    try {
      const { action } = await work()
      set([[key, { state: 'done', verb, action }]])
      hold({ verb, places: [place] })
    } catch (error) {
      set([[key, failureOf(error)]])
    }
    await refresh()
  }

  const decideMany = async (verb: Verb, all: readonly ActionPlace[], reason = '') => {
    if (all.length === 0) return
    setNotice(null)
    set(all.map((place) => [actionKey(place), { state: 'sending', verb }]))
    const decided: ActionPlace[] = []
    for (let done = 0; done < all.length; done += AT_ONCE) {
      setProgress({ verb, done, total: all.length })
      const places = all.slice(done, done + AT_ONCE)
      try {
        const decisions = await decideSome(verb, places, reason)
        set(decisions.map((decision) => [actionKey(decision), outcomeOf(verb, decision)]))
        decided.push(...places.filter((_, index) => decisions[index]?.action))
      } catch (error) {
        set(places.map((place) => [actionKey(place), failureOf(error)]))
      }
    }
    setProgress(null)
    hold({ verb, places: decided })
    if (decided.length < all.length) setNotice(text.bulk.notDecided(verb, all.length - decided.length))
    await refresh()
  }

  /** Undoes the latest decision. @returns what waits again. */
  const undo = async (): Promise<readonly ActionPlace[]> => {
    const last = undoable.at(-1)
    if (!last) return []
    forget(last)
    try {
      const { decisions } = await call('undoDecisions', { actions: last.places.map(toPlace) })
      const undone = decisions.filter(({ action }) => action !== null)
      const failures = decisions.flatMap(({ error }) => error ?? [])
      setOutcomes((before) => without(before, undone.map(actionKey)))
      // An approval that follows must not show the result of this one.
      for (const place of undone) queryClient.removeQueries({ queryKey: keyOf('getAction', pathOf(place)) })
      setNotice([text.undo.undone(undone.length), failures[0]?.message].filter(Boolean).join(' '))
      await refresh()
      return undone
    } catch (error) {
      setNotice(text.undo.failed(messageOf(error)))
      return []
    }
  }

  return {
    outcomes,
    undoable,
    progress,
    notice,
    undo,
    decideMany,
    approve: (place: ActionPlace, params?: Record<string, unknown>) =>
      decide(place, 'approve', () =>
        call('approveAction', {
          ...pathOf(place),
          ...(params === undefined ? {} : { params }),
          hold_seconds: HOLD_SECONDS,
        }),
      ),
    /** Shows why actions cannot be approved, without asking the service. */
    refuse: (refused: { place: ActionPlace; message: string }[]) =>
      set(refused.map(({ place, message }) => [actionKey(place), { state: 'refused', message }])),
    reject: (place: ActionPlace, reason: string) =>
      decide(place, 'reject', () => call('rejectAction', { ...pathOf(place), ...(reason === '' ? {} : { reason }) })),
    /** Refetches the inbox, without the decided actions. */
    startOver: async () => {
      await queryClient.invalidateQueries({ queryKey: keyOf('listApprovals') })
      setOutcomes(new Map())
      setNotice(null)
    },
  }
}

/** Decides several actions in one request; each succeeds or fails alone. */
async function decideSome(verb: Verb, places: readonly ActionPlace[], reason: string): Promise<Decision[]> {
  const actions = places.map(toPlace)
  const { decisions } =
    verb === 'approve'
      ? await call('approveActions', { actions, hold_seconds: HOLD_SECONDS })
      : await call('rejectActions', { actions, ...(reason === '' ? {} : { reason }) })
  return decisions
}

function toPlace({ run_id, contact_id, action_index }: ActionPlace): ActionPlace {
  return { run_id, contact_id, action_index }
}

function without(outcomes: ReadonlyMap<string, Outcome>, keys: readonly string[]): ReadonlyMap<string, Outcome> {
  return new Map([...outcomes].filter(([key]) => !keys.includes(key)))
}

function outcomeOf(verb: Verb, { action, error }: Decision): Outcome {
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
