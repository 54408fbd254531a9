import { useState } from 'react'
import type { Playbooks, SegmentFilter } from '../api/types.ts'
import { newProperty } from '../filters/draft.ts'
import { countUnfinished } from '../filters/draft-filter.ts'
import { useFilterForm } from '../filters/use-filter-form.ts'
import { type AgentDraft, inputOf, templateFields } from './agent-draft.ts'
import { isTriggerComplete } from './trigger-draft.ts'

export type AgentFields = ReturnType<typeof useAgentFields>

/** The state of an agent's form. @param stored the filter that is its audience */
export function useAgentFields(initial: AgentDraft, playbooks: Playbooks, stored?: SegmentFilter) {
  const [draft, setDraft] = useState(initial)
  const change = (changes: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const audience = useFilterForm('contacts', stored, [newProperty()])
  const chooseTemplate = (name: string | null) => {
    const template = playbooks.templates.find((each) => each.name === name)
    const former = playbooks.templates.find((each) => each.name === draft.template)
    const isNamed = draft.name.trim() !== '' && draft.name !== former?.title
    change({ ...templateFields(template), ...(isNamed ? {} : { name: template?.title ?? '' }) })
  }
  const hasAudience =
    draft.audience === 'filter' ? audience.unfinished === 0 : draft.audience === 'nobody' || draft.segmentId !== ''
  return {
    playbooks,
    draft,
    change,
    chooseTemplate,
    audience,
    hasName: draft.name.trim() !== '',
    /** Whether the audience is complete. */
    hasAudience,
    /** Whether each trigger is complete. */
    hasTriggers: draft.triggers.every(isTriggerComplete),
    /** Whether the goal is complete; one without an event is none. */
    hasGoal: draft.goal.event.trim() === '' || countUnfinished(draft.goal.where) === 0,
    input: inputOf(draft, audience.filter, playbooks, audience.types),
  }
}
