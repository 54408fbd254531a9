import { expect, test } from 'vitest'
import { draftOf, inputOf, newDraft, newVariable } from '../src/agents/agent-draft.ts'
import type { Agent, Playbooks } from '../src/api/types.ts'

const PLAYBOOKS = {
  templates: [
    {
      name: 'churn_risk',
      title: 'Churn risk',
      prompt: 'Look at {{variables.plan}}.',
      variables: { plan: 'pro', days: '30' },
      capabilities: ['notes'],
    },
  ],
  max_contacts: { default: 50 },
} as unknown as Playbooks
const NO_FILTER = { match: 'all' as const, conditions: [] }
const NO_TYPES = { records: new Map(), events: new Map() }

test('a template that was not changed is not sent, so that the agent follows its later versions', () => {
  const draft = newDraft(PLAYBOOKS, 'churn_risk')
  expect(draft.instructions).toBe('Look at {{variables.plan}}.')
  const { playbook, playbook_template } = inputOf(draft, NO_FILTER, PLAYBOOKS, NO_TYPES)
  expect(playbook_template).toBe('churn_risk')
  expect(playbook).toMatchObject({ playbook_md: null, variables: null })
})

test('of a template, only what was changed is sent', () => {
  const draft = newDraft(PLAYBOOKS, 'churn_risk')
  const variables = [...draft.variables.map((each) => (each.name === 'days' ? { ...each, value: '7' } : each))]
  const changed = { ...draft, instructions: 'Be kind.', variables: [...variables, newVariable(' tone ', 'calm')] }
  expect(inputOf(changed, NO_FILTER, PLAYBOOKS, NO_TYPES).playbook).toMatchObject({
    playbook_md: 'Be kind.',
    variables: { days: '7', tone: 'calm' },
  })
})

test('an empty field removes its setting', () => {
  const stored = {
    name: 'Scout',
    description: 'Finds people',
    playbook_template: null,
    playbook: { playbook_md: 'Be kind.', require_approval: true, max_cost_usd_per_run: 2 },
    capabilities: ['notes'],
    identity_id: null,
    monitoring: { filter: { segment_id: 's' }, schedule_cron: '30 8 * * 2', time_zone: 'UTC', max_contacts_per_run: 5 },
    llm_config: {
      ...{ provider: 'openai', model: 'm', temperature: 0, max_tokens: 9 },
      ...{ tools_max: 0, redact_personal_data: true },
    },
  } as unknown as Agent
  const draft = draftOf(stored, PLAYBOOKS)
  expect(inputOf(draft, NO_FILTER, PLAYBOOKS, NO_TYPES)).toMatchObject({
    description: 'Finds people',
    playbook: { max_cost_usd_per_run: 2 },
    monitoring: { filter: { segment_id: 's' }, schedule_cron: '30 8 * * 2', time_zone: 'UTC' },
    llm_config: { max_tokens: 9, tools_max: 0, redact_personal_data: true },
  })
  const emptied = { ...draft, description: ' ', cron: '', timeZone: ' ', maxCost: '', audience: 'nobody' as const }
  const none = { provider: '' as const, model: '', temperature: '', maxTokens: '', toolsMax: '', redacts: false }
  expect(inputOf({ ...emptied, ...none }, NO_FILTER, PLAYBOOKS, NO_TYPES)).toMatchObject({
    description: null,
    playbook: { max_cost_usd_per_run: null },
    monitoring: { filter: null, schedule_cron: null, time_zone: null },
    llm_config: { provider: null, model: null, temperature: null, max_tokens: null, tools_max: null },
  })
})
