import { propertyLabel } from './property-value.ts'

/** A short summary of an event's data; empty if there is nothing to say. */
export function eventDetails(event: string, data: Record<string, unknown>): string {
  switch (event) {
    case 'page_leave':
      return duration(data.time_on_page)
    case 'contact_updated':
      return changedFields(data)
    case 'lifecycle_stage_changed':
      return [textOf(data.from) || 'none', textOf(data.to) || 'none'].join(' → ')
    case 'contact_identified':
      return textOf(data.source) && `by ${textOf(data.source)}`
    case 'video_milestone':
      return textOf(data.percent) && `${textOf(data.percent)}%`
    case 'agent_action_proposed':
    case 'agent_action_executed':
    case 'agent_action_failed':
      return textOf(data.type).replaceAll('_', ' ')
    default:
      return [data.text, data.title, data.name, data.segment_name, data.type].map(textOf).find(Boolean) ?? ''
  }
}

function changedFields({ changed }: Record<string, unknown>): string {
  const names = Array.isArray(changed) ? changed : Object.keys((changed ?? {}) as object)
  return names
    .slice(0, 5)
    .map((name) => propertyLabel(String(name)))
    .join(', ')
}

function duration(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 1) return ''
  const whole = Math.round(seconds)
  return whole < 60 ? `after ${whole} s` : `after ${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Only texts and numbers are shown in a line. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
