import { hasMoreCharacters, shown } from '../../platform/characters.ts'
import type { ErrorDetail } from '../../platform/errors.ts'
import { ACTION_TYPES, checkActionParams, isActionType } from '../action-types.ts'
import type { Playbook } from '../agent.ts'
import { playbookTemplates } from './templates.ts'
import { describeVariables, unknownVariables } from './variables.ts'

const VARIABLES_MAX = 50
const VARIABLE_NAME = /^[a-z][a-z0-9_]{0,63}$/
const VARIABLE_LENGTH_MAX = 2_000
const CONFIG_CHARACTERS_MAX = 20_000

/** Reports every problem of a playbook that its schema cannot express. @param template the name of its template. */
export function checkPlaybook(playbook: Playbook, template: string | null): ErrorDetail[] {
  const { playbook_md, variables = {}, messages = {}, config = {} } = playbook
  const own = ownVariables(playbook, template)
  const details = checkVariables(variables)
  if (playbook_md !== undefined) details.push(...checkText('playbook.playbook_md', playbook_md, own))
  for (const [type, params] of Object.entries(messages)) {
    const path = `playbook.messages.${shown(type)}`
    if (!isActionType(type)) {
      details.push({ path, message: `is not an action type; use ${ACTION_TYPES.join(', ')}` })
      continue
    }
    details.push(...checkActionParams(type, params, path))
    for (const text of textsOf(params)) details.push(...checkText(path, text, own))
  }
  if (hasMoreCharacters(JSON.stringify(config), CONFIG_CHARACTERS_MAX)) {
    details.push({ path: 'playbook.config', message: `is longer than ${CONFIG_CHARACTERS_MAX} characters` })
  }
  return details
}

/** The names allowed after `variables.`: the template's and the playbook's own. */
export function ownVariables(playbook: Playbook, template: string | null): string[] {
  const known = template === null ? undefined : playbookTemplates().get(template)
  return [...new Set([...Object.keys(known?.variables ?? {}), ...Object.keys(playbook.variables ?? {})])]
}

/** Every text in a value, at any depth. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(textsOf)
}

function checkText(path: string, text: string, own: readonly string[]): ErrorDetail[] {
  return unknownVariables(text, own).map((name) => ({
    path,
    message: `uses the unknown variable {{${shown(name)}}}; use one of ${describeVariables(own)}`,
  }))
}

function checkVariables(variables: Record<string, unknown>): ErrorDetail[] {
  const path = 'playbook.variables'
  const entries = Object.entries(variables)
  if (entries.length > VARIABLES_MAX) return [{ path, message: `has more than ${VARIABLES_MAX} variables` }]
  return entries.flatMap(([name, value]) => {
    const at = `${path}.${shown(name)}`
    if (!VARIABLE_NAME.test(name)) {
      return [{ path: at, message: 'a name must have 1 to 64 characters of a-z, 0-9 and _, and begin with a letter' }]
    }
    const fits = typeof value === 'string' && !hasMoreCharacters(value, VARIABLE_LENGTH_MAX)
    return fits ? [] : [{ path: at, message: `must be a string of at most ${VARIABLE_LENGTH_MAX} characters` }]
  })
}
