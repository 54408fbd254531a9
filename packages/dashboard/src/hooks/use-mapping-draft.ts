import { useQuery } from '@tanstack/react-query'
import { type SetStateAction, useMemo, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Hook } from '../api/types.ts'
import { type Draft, draftOf, isMapped, withGuesses } from './mapping-draft.ts'

/**
 * The draft of a hook's mapping. One that has no mapping begins with a guess from the sample, until the person changes it.
 * `guess` fills in the fields that are still empty; undefined while there is nothing to guess from.
 */
export function useMappingDraft(hook: Hook, sample: unknown, isReadOnly: boolean) {
  const { hook_id, mapping } = hook
  const [edited, setEdited] = useState<Draft | null>(null)
  const { data, error } = useQuery({
    ...queryOf('proposeHookMapping', { hook_id, sample }),
    enabled: sample !== undefined && !isReadOnly,
    retry: false,
  })
  const begins = !isReadOnly && !isMapped(mapping)
  const proposal = sample === undefined ? undefined : data?.mapping
  // The rows keep their identity, because a chosen one is known by its id.
  const first = useMemo(() => draftOf((begins && proposal) || mapping), [begins, proposal, mapping])
  const draft = edited ?? first
  return {
    draft,
    setDraft: (change: SetStateAction<Draft>) =>
      setEdited((before) => (typeof change === 'function' ? change(before ?? first) : change)),
    guess: proposal && !isReadOnly ? () => setEdited(withGuesses(draft, draftOf(proposal))) : undefined,
    isGuessed: edited === null && begins && proposal !== undefined,
    guessError: error,
  }
}
