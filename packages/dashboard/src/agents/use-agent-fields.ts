import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Agent, Playbooks } from '../api/types.ts'
import { countUnfinished, type Draft, draftOf, filterOf, newGroup, newProperty, replaceIn } from '../filters/draft.ts'
import { type AgentDraft, inputOf, templateFields } from './agent-draft.ts'

export type AgentFields = ReturnType<typeof useAgentFields>

/** The state of an agent's form. @param agent the one that is edited; absent for a new one. */
export function useAgentFields(initial: AgentDraft, playbooks: Playbooks, agent?: Agent) {
  const [draft, setDraft] = useState(initial)
  const change = (changes: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const stored = agent?.monitoring.filter
  const [filterDraft, setFilterDraft] = useState(() =>
    stored !== undefined && !('segment_id' in stored) ? draftOf(stored) : newGroup('all', [newProperty()]),
  )
  const { data: properties } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
  const types = new Map(properties?.properties.map(({ name, type }) => [name, type]))
  const filter = filterOf(filterDraft, types)
  const unfinished = countUnfinished(filterDraft)
  const replace = (id: string, changed: Draft | null) =>
    setFilterDraft((before) => {
      if (id !== before.id) return replaceIn(before, id, changed)
      return changed?.kind === 'group' ? changed : before
    })
  const chooseTemplate = (name: string | null) => {
    const template = playbooks.templates.find((each) => each.name === name)
    const former = playbooks.templates.find((each) => each.name === draft.template)
    const isNamed = draft.name.trim() !== '' && draft.name !== former?.title
    change({ ...templateFields(template), ...(isNamed ? {} : { name: template?.title ?? '' }) })
  }
  const hasAudience =
    draft.audience === 'filter' ? unfinished === 0 : draft.audience === 'nobody' || draft.segmentId !== ''
  return {
    playbooks,
    draft,
    change,
    chooseTemplate,
    filterDraft,
    filter,
    unfinished,
    replace,
    hasName: draft.name.trim() !== '',
    /** Whether the audience is complete. */
    hasAudience,
    input: inputOf(draft, filter, playbooks),
  }
}
