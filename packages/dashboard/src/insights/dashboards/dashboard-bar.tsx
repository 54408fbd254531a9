import { Box, Fieldset, Group, Text } from '@mantine/core'
import { useFilterNames } from '../../filters/fields.ts'
import { FilterBuilder } from '../../filters/filter-builder.tsx'
import { filterText, partsOf } from '../../filters/filter-text.ts'
import { useFilterForm } from '../../filters/use-filter-form.ts'
import { eventFilterWords } from '../../filters/words.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { RangeField } from '../range-field.tsx'
import { type Defaults, filterOf, NO_WHERE, rangeText } from './asked.ts'
import { text } from './text.ts'

const words = text.page

interface DashboardBarProps {
  defaults: Defaults
  /** What changes, as the URL has it. */
  onTry: (changes: { range?: string; where?: string }) => void
}

/** One range and one filter for all tiles. */
export function DashboardBar({ defaults: { range, where }, onTry }: DashboardBarProps) {
  const filter = where.length > 0 ? filterOf(where) : undefined
  const names = useFilterNames('events', [filter])
  const form = useFilterForm('events', filter)
  return (
    <Group align="flex-start" gap="xs">
      <RangeField
        range={range ?? {}}
        none={words.rangesOfReports}
        onChange={(changed) => onTry({ range: rangeText(Object.keys(changed).length > 0 ? changed : null) })}
      />
      <Box flex={1}>
        <FilterBar
          fields={[]}
          values={{}}
          onChange={(changed) => onTry({ where: String(changed.where ?? NO_WHERE) })}
          more={{
            active: (filter ? partsOf(filter) : []).map(({ part, rest }) => ({
              words: eventFilterWords(part, names),
              without: { where: rest && filterText(rest) },
            })),
            none: { where: undefined },
            inputs: (
              <Fieldset legend={words.everyEvent}>
                <FilterBuilder form={form} />
                <Text size="sm" c="dimmed" role="status">
                  {form.unfinished > 0 ? words.unfinished(form.unfinished) : ''}
                </Text>
              </Fieldset>
            ),
            onOpen: () => form.reset(filter),
            onClear: () => form.reset(undefined),
            changes: () => ({ where: filterText(form.eventFilter()) }),
          }}
        />
      </Box>
    </Group>
  )
}
