import { Button, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar, IconCheck, IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { formatDay } from './format.ts'
import { RANGES, type RangeSearch, resolveRange } from './range.ts'
import { text } from './text.ts'
import { useLater } from './use-later.ts'
import { useMenuButton } from './use-menu-button.ts'

interface DateRangeProps {
  value: RangeSearch
  /** All three keys are set, so that they replace the previous ones. */
  onChange: (value: { range: RangeSearch['range']; from: string | undefined; to: string | undefined }) => void
}

/** Chooses the days of a page: a preset, or a first and a last day. */
export function DateRange({ value, onChange }: DateRangeProps) {
  const [isOpen, { open, close }] = useDisclosure()
  // Loaded with the menu: a dialog returns the focus only if it was there, closed, before.
  const [opened, setOpened] = useState(0)
  const dialog = useLater(opened > 0 && `${opened}`, () => import('./date-range-dialog.tsx'))
  const { button, afterFocus } = useMenuButton()
  const current = value.range ?? '28d'
  const { from, to } = resolveRange(value)
  const preset = RANGES.find((range) => range.value === current)
  return (
    <>
      <Menu position="bottom-end" width={200} onOpen={() => setOpened(opened + 1)}>
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            leftSection={<IconCalendar size={16} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {preset?.label ?? text.dateRange.days(formatDay(from), formatDay(to))}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RANGES.map(({ value: range, label }) => (
            <Menu.Item
              key={range}
              rightSection={range === current ? <IconCheck size={16} aria-label={text.current} /> : null}
              onClick={() => onChange({ range, from: undefined, to: undefined })}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={afterFocus(open)}>{text.dateRange.custom}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog ? (
        <dialog.DateRangeDialog
          from={from}
          to={to}
          isOpen={isOpen}
          onClose={close}
          onApply={(days) => {
            onChange({ range: 'custom', ...days })
            close()
          }}
        />
      ) : null}
    </>
  )
}
