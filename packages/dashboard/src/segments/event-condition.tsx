import { Button, Group, Menu, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { EVENT_TEXTS, type EventDraft, type EventText } from './draft.ts'
import { ValueText } from './value-field.tsx'

const LABELS: Record<EventText, string> = {
  type: 'Event',
  url_contains: 'Address contains',
  text: 'Text is',
  text_contains: 'Text contains',
  class_contains: 'CSS class contains',
  element_id: 'Element id is',
}

/** "Did – page_view – address contains /pricing – at least 2 times – in the last 30 days". */
export function EventCondition({ draft, onChange }: { draft: EventDraft; onChange: (draft: EventDraft) => void }) {
  const { operator, texts, withinDays, minCount } = draft
  const setText = (name: EventText, text: string | undefined) => {
    const { [name]: _before, ...others } = texts
    onChange({ ...draft, texts: text === undefined ? others : { ...texts, [name]: text } })
  }
  const shown = EVENT_TEXTS.filter((name) => texts[name] !== undefined)
  const others = EVENT_TEXTS.filter((name) => texts[name] === undefined)
  return (
    <Stack gap="xs" flex="1 1 320px" miw={0}>
      <Group gap="xs">
        <NativeSelect
          aria-label="Did or did not"
          value={operator}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...draft, operator: value === 'did' ? 'did' : 'did_not' })
          }
          data={[
            { value: 'did', label: 'Did' },
            { value: 'did_not', label: 'Did not do' },
          ]}
        />
        {shown.length === 0 ? (
          <Text size="sm" c="dimmed">
            anything
          </Text>
        ) : null}
        {shown.map((name) => (
          <Group key={name} gap={6} wrap="nowrap">
            {name === 'type' ? null : (
              <Text size="sm" c="dimmed">
                {LABELS[name]}
              </Text>
            )}
            <ValueText
              label={LABELS[name]}
              property={`event.${name}`}
              value={texts[name] ?? ''}
              placeholder={name === 'type' ? 'page_view' : ''}
              onChange={(text) => setText(name, text)}
            />
          </Group>
        ))}
      </Group>
      <Group gap="xs">
        <Amount label="Minimum count" words="at least" unit="times" value={minCount} placeholder="1">
          {(value) => onChange({ ...draft, minCount: value })}
        </Amount>
        <Amount label="Number of days" words="in the last" unit="days" value={withinDays} placeholder="ever">
          {(value) => onChange({ ...draft, withinDays: value })}
        </Amount>
        {others.length > 0 ? (
          <Menu position="bottom-start">
            <Menu.Target>
              <Button variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} aria-hidden />}>
                Add details
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {others.map((name) => (
                <Menu.Item key={name} onClick={() => setText(name, '')}>
                  {LABELS[name]}
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
  words: string
  unit: string
  value: string
  placeholder: string
  children: (value: string) => void
}

function Amount({ label, words, unit, value, placeholder, children: onChange }: AmountProps) {
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" c="dimmed">
        {words}
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
