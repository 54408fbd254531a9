import { readdirSync, readFileSync } from 'node:fs'
import type { SegmentFilter } from '../../conditions/language.ts'
import { parseContactFilter } from '../../segments/contact-filters.ts'
import { type ActionType, CAPABILITY_NAMES, type Capability, isActionType } from '../action-types.ts'

/** A predefined playbook, from the Markdown file with its name in this folder. */
export interface PlaybookTemplate {
  name: string
  title: string
  description: string
  /** Of an agent that sets none. */
  capabilities: Capability[]
  /** Its variables with their defaults. */
  variables: Record<string, string>
  /** The contacts for which the template provider proposes actions; a model follows the prompt instead. */
  when: SegmentFilter
  /** The instructions for a model. */
  prompt: string
  /** The template provider's reason for its proposals. */
  reasoning: string
  /** The template provider's proposals: params whose texts contain variables. */
  messages: Partial<Record<ActionType, Record<string, unknown>>>
}

let known: ReadonlyMap<string, PlaybookTemplate> | undefined

/** Every template by name, sorted by name. Read once. */
export function playbookTemplates(): ReadonlyMap<string, PlaybookTemplate> {
  known ??= readTemplates()
  return known
}

function readTemplates(): Map<string, PlaybookTemplate> {
  const folder = new URL('.', import.meta.url)
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'))
  const templates = files.sort().map((file) => {
    return parseTemplate(file.replace(/\.md$/, ''), readFileSync(new URL(file, folder), 'utf8'))
  })
  return new Map(templates.map((template) => [template.name, template]))
}

/**
 * Reads a template: front matter of `key: value` lines, then sections under second-level headings.
 * @throws Error that names the problem with the file.
 */
export function parseTemplate(name: string, text: string): PlaybookTemplate {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  if (head === undefined || body === undefined) throw new Error(`The playbook ${name} has no front matter.`)
  const fields = new Map(head.split('\n').map((line) => split(line, ':')))
  const sections = new Map(
    body
      .split(/^## /m)
      .slice(1)
      .map((section) => split(section, '\n')),
  )
  const need = (from: Map<string, string>, key: string) => {
    const value = from.get(key)
    if (!value) throw new Error(`The playbook ${name} lacks ${key}.`)
    return value
  }
  const capabilities = need(fields, 'capabilities').split(/\s*,\s*/)
  const unknown = capabilities.find((capability) => !(CAPABILITY_NAMES as string[]).includes(capability))
  if (unknown) throw new Error(`The playbook ${name} names the unknown capability ${unknown}.`)
  return {
    name,
    title: need(fields, 'title'),
    description: need(fields, 'description'),
    capabilities: capabilities as Capability[],
    variables: JSON.parse(fields.get('variables') ?? '{}') as Record<string, string>,
    when: parseContactFilter(JSON.parse(need(fields, 'when')), { path: 'when' }),
    prompt: need(sections, 'Prompt'),
    reasoning: need(sections, 'Reasoning').replace(/\s+/g, ' '),
    messages: Object.fromEntries([...sections].flatMap(([title, section]) => messageOf(name, title, section))),
  }
}

/** `## Propose email_message`: lines of `key: value`, an empty line, and the text; JSON where there is no text. */
function messageOf(name: string, title: string, section: string): [ActionType, Record<string, unknown>][] {
  if (!title.startsWith('Propose ')) return []
  const type = title.slice('Propose '.length)
  if (!isActionType(type)) throw new Error(`The playbook ${name} proposes the unknown action ${type}.`)
  switch (type) {
    case 'email_message': {
      const [, subject, message] = /^Subject: (.+)\n\n([\s\S]+)$/.exec(section) ?? []
      return [[type, { subject, message }]]
    }
    case 'social_message':
    case 'social_connect':
      return [[type, { message: section }]]
    case 'note':
      return [[type, { content: section }]]
    case 'crm_update':
      return [[type, { properties: JSON.parse(section) as unknown }]]
  }
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  return [text.slice(0, index).trim(), text.slice(index + at.length).trim()]
}
