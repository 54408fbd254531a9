import { Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar, IconCheck, IconChevronDown } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { formatDay } from './format.ts'
import { RANGES, type RangeSearch, resolveRange } from './range.ts'
import { useMenuButton } from './use-menu-button.ts'

interface DateRangeProps {
  value: RangeSearch
  /** All three keys are set, so that they replace the previous ones. */
  onChange: (value: { range: RangeSearch['range']; from: string | undefined; to: string | undefined }) => void
}

/** Chooses the days of a page: a preset, or a first and a last day. */
export function DateRange({ value, onChange }: DateRangeProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const { button, afterFocus } = useMenuButton()
  const current = value.range ?? '28d'
  const { from, to } = resolveRange(value)
  const preset = RANGES.find((range) => range.value === current)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            leftSection={<IconCalendar size={16} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {preset?.label ?? `${formatDay(from)} – ${formatDay(to)}`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RANGES.map(({ value: range, label }) => (
            <Menu.Item
              key={range}
              rightSection={range === current ? <IconCheck size={16} aria-label="current" /> : null}
              onClick={() => onChange({ range, from: undefined, to: undefined })}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={afterFocus(open)}>Custom dates…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isOpen} onClose={close} title="Date range" size="sm">
        <Days
          from={from}
          to={to}
          onApply={(days) => {
            onChange({ range: 'custom', ...days })
            close()
          }}
        />
      </Modal>
    </>
  )
}

function Days(props: { from: string; to: string; onApply: (days: { from: string; to: string }) => void }) {
  const [from, setFrom] = useState(props.from)
  const [to, setTo] = useState(props.to)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (from !== '' && to !== '') props.onApply(from <= to ? { from, to } : { from: to, to: from })
  }
  return (
    <Stack component="form" gap="sm" onSubmit={apply}>
      <Group gap="sm" grow>
        <TextInput
          data-autofocus
          type="date"
          label="From"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput type="date" label="To" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      </Group>
      <Button type="submit">Apply dates</Button>
    </Stack>
  )
}
