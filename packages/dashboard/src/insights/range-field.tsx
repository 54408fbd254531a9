import { Button, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar, IconCheck, IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { localDay } from '../session/time-zone.ts'
import { DAY_MS } from '../ui/range.ts'
import { text as shared } from '../ui/text.ts'
import { useLater } from '../ui/use-later.ts'
import { useMenuButton } from '../ui/use-menu-button.ts'
import type { SharedDraft } from './draft.ts'
import { LAST_DEFAULT, rangeWords } from './summary.ts'
import { text } from './text.ts'

const words = text.range
type Range = SharedDraft['range']
type Last = NonNullable<Range['last']>

const PRESETS: readonly Last[] = [
  { value: 1, unit: 'day' },
  { value: 1, unit: 'day', complete: true },
  { value: 7, unit: 'day' },
  { value: 30, unit: 'day' },
  { value: 90, unit: 'day' },
  { value: 1, unit: 'month' },
  { value: 12, unit: 'month' },
]

interface RangeFieldProps {
  range: Range
  /** What no range means, if that can be chosen. Otherwise it is the service's. */
  none?: string
  onChange: (range: Range) => void
}

/** Chooses the range of a question: so many days or months until now, or a first and a last day. */
export function RangeField({ range, none, onChange }: RangeFieldProps) {
  const [isOpen, { open, close }] = useDisclosure()
  // Loaded with the menu: a dialog returns the focus only if it was there, closed, before.
  const [opened, setOpened] = useState(0)
  const dialog = useLater(opened > 0 && `${opened}`, () => import('../ui/date-range-dialog.tsx'))
  const { button, afterFocus } = useMenuButton()
  const { date_from, date_to, last, ...zone } = range
  const isNone = none !== undefined && date_from === undefined && last === undefined
  const chosen = date_from === undefined && !isNone ? (last ?? LAST_DEFAULT) : undefined
  const isChosen = (preset: Last) => chosen !== undefined && words.last(chosen) === words.last(preset)
  const shown = isNone ? none : rangeWords(range)
  return (
    <>
      <Menu position="bottom-start" width={200} onOpen={() => setOpened(opened + 1)}>
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            style={{ alignSelf: 'flex-start' }}
            aria-label={words.label(shown)}
            leftSection={<IconCalendar size={16} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
          >
            {shown}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {none === undefined ? null : (
            <Menu.Item
              rightSection={isNone ? <IconCheck size={16} aria-label={shared.current} /> : null}
              onClick={() => onChange(zone)}
            >
              {none}
            </Menu.Item>
          )}
          {PRESETS.map((preset) => (
            <Menu.Item
              key={words.last(preset)}
              rightSection={isChosen(preset) ? <IconCheck size={16} aria-label={shared.current} /> : null}
              onClick={() => onChange({ ...zone, last: preset })}
            >
              {words.last(preset)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={afterFocus(open)}>{shared.dateRange.custom}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog ? (
        <dialog.DateRangeDialog
          from={date_from?.slice(0, 10) ?? localDay(new Date(Date.now() - 29 * DAY_MS))}
          to={date_to?.slice(0, 10) ?? localDay(new Date())}
          isOpen={isOpen}
          onClose={close}
          onApply={({ from, to }) => {
            onChange({ ...zone, date_from: from, date_to: to })
            close()
          }}
        />
      ) : null}
    </>
  )
}
