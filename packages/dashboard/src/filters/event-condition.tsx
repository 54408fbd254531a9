import { Button, Group, Menu, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { EventField } from '../ui/event-field.tsx'
import { EVENT_TEXTS, type EventDraft, type EventText } from './draft.ts'
import { text } from './text.ts'
import { ValueText } from './value-field.tsx'

const words = text.builder

/** "Has done – Viewed a page – URL contains /pricing – at least 2 times – in the last 30 days". */
export function EventCondition({ draft, onChange }: { draft: EventDraft; onChange: (draft: EventDraft) => void }) {
  const { operator, texts, withinDays, minCount } = draft
  const setText = (name: EventText, value: string | undefined) => {
    const { [name]: _before, ...others } = texts
    onChange({ ...draft, texts: value === undefined ? others : { ...texts, [name]: value } })
  }
  const shown = EVENT_TEXTS.filter((name) => texts[name] !== undefined)
  const others = EVENT_TEXTS.filter((name) => texts[name] === undefined)
  return (
    <Stack gap="xs" flex="1 1 320px" miw={0}>
      <Group gap="xs">
        <NativeSelect
          aria-label={words.hasDone}
          value={operator}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...draft, operator: value === 'did' ? 'did' : 'did_not' })
          }
          data={words.operators}
        />
        {shown.length === 0 ? (
          <Text size="sm" c="dimmed">
            {words.anyEvent}
          </Text>
        ) : null}
        {shown.map((name) => (
          <Group key={name} gap={6} wrap="nowrap">
            {name === 'type' ? null : (
              <Text size="sm" c="dimmed">
                {words.details[name]}
              </Text>
            )}
            {name === 'type' ? (
              <EventField
                aria-label={words.details.type}
                value={texts.type ?? ''}
                onChange={(event) => setText('type', event)}
              />
            ) : (
              <ValueText
                label={words.details[name]}
                property={`event.${name}`}
                value={texts[name] ?? ''}
                onChange={(value) => setText(name, value)}
              />
            )}
          </Group>
        ))}
      </Group>
      <Group gap="xs">
        <Amount label={words.countLabel} before={words.atLeast} unit={words.times} value={minCount} placeholder="1">
          {(value) => onChange({ ...draft, minCount: value })}
        </Amount>
        <Amount
          label={words.daysLabel}
          before={words.inTheLast}
          unit={words.daysUnit}
          value={withinDays}
          placeholder={words.ever}
        >
          {(value) => onChange({ ...draft, withinDays: value })}
        </Amount>
        {others.length > 0 ? (
          <Menu position="bottom-start">
            <Menu.Target>
              <Button variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} aria-hidden />}>
                {words.addDetails}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {others.map((name) => (
                <Menu.Item key={name} onClick={() => setText(name, '')}>
                  {words.details[name]}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        ) : null}
      </Group>
    </Stack>
  )
}

interface AmountProps {
  label: string
  before: string
  unit: string
  value: string
  placeholder: string
  children: (value: string) => void
}

function Amount({ label, before, unit, value, placeholder, children: onChange }: AmountProps) {
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" c="dimmed">
        {before}
      </Text>
      <TextInput
        aria-label={label}
        inputMode="numeric"
        w={64}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.currentTarget.value.replaceAll(/\D/g, '').slice(0, 6))}
      />
      <Text size="sm" c="dimmed">
        {unit}
      </Text>
    </Group>
  )
}
