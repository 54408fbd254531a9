import { ActionIcon, Button, Group, Menu, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EventField } from '../ui/event-field.tsx'
import {
  type CountOperator,
  EVENT_TEXTS,
  type EventText,
  type MatchDraft,
  newGroup,
  newProperty,
  replaceIn,
} from './draft.ts'
import { FilterOf } from './filter-context.tsx'
import { MeasureFields } from './measure-fields.tsx'
import { text } from './text.ts'
import { EventNames, ValueText } from './value-field.tsx'
import { WhereFields } from './where-fields.tsx'

const words = text.builder

interface MatchFieldsProps {
  draft: MatchDraft
  onChange: (draft: MatchDraft) => void
  /** Of the filter around it. */
  level: number
  isNew: boolean
  /** Whether the events are counted, and measured: not those of a sequence. */
  isCounted: boolean
  /** Before the event's name. */
  children?: ReactNode
}

/** "Viewed a page – URL contains /pricing – where Browser is Chrome – at least 2 times – in the last 30 days". */
export function MatchFields({ draft, onChange, level, isNew, isCounted, children }: MatchFieldsProps) {
  const { texts, types, where, withinDays, measure } = draft
  const setText = (name: EventText, value: string | undefined) => {
    const { [name]: _before, ...others } = texts
    onChange({ ...draft, texts: value === undefined ? others : { ...texts, [name]: value } })
  }
  const details = EVENT_TEXTS.filter((name) => name !== 'type' && texts[name] !== undefined)
  const isAny = texts.type === undefined && types === undefined
  const adding = <AddDetail draft={draft} isAny={isAny} isCounted={isCounted} onChange={onChange} />
  return (
    <Stack gap="xs" flex="1 1 320px" miw={0}>
      <Group gap="xs">
        {children}
        {isAny ? (
          <Text size="sm" c="dimmed">
            {words.anyEvent}
          </Text>
        ) : null}
        {texts.type === undefined ? null : (
          <EventField
            aria-label={words.details.type}
            value={texts.type}
            autoFocus={isNew}
            onChange={(event) => setText('type', event)}
          />
        )}
        {types === undefined ? null : (
          <EventNames label={words.types} values={types} onChange={(names) => onChange({ ...draft, types: names })} />
        )}
        {isCounted ? null : adding}
      </Group>
      {details.map((name) => (
        <Detail key={name} label={words.details[name]} onRemove={() => setText(name, undefined)}>
          <ValueText
            label={words.details[name]}
            property={`event.${name}`}
            value={texts[name] ?? ''}
            onChange={(value) => setText(name, value)}
          />
        </Detail>
      ))}
      {where || measure ? (
        <FilterOf filtered="events-of-contact" event={texts.type}>
          {where ? (
            <WhereFields
              group={where}
              level={level}
              onReplace={(id, changed) => onChange(withWhere(draft, replaceIn(where, id, changed)))}
            />
          ) : null}
          {measure ? (
            <Detail label={words.measure} onRemove={() => onChange(without(draft, 'measure'))}>
              <MeasureFields measure={measure} onChange={(changed) => onChange({ ...draft, measure: changed })} />
            </Detail>
          ) : null}
        </FilterOf>
      ) : null}
      {(['after', 'before'] as const).map((name) =>
        draft[name] === undefined ? null : (
          <Detail key={name} label={words.dates[name]} onRemove={() => onChange(without(draft, name))}>
            <TextInput
              type="date"
              aria-label={words.dates[name]}
              value={draft[name].slice(0, 10)}
              onChange={(event) => onChange({ ...draft, [name]: event.currentTarget.value })}
            />
          </Detail>
        ),
      )}
      {isCounted || withinDays !== '' ? (
        <Group gap="xs">
          {isCounted ? <CountFields draft={draft} onChange={onChange} /> : null}
          <Amount
            label={words.daysLabel}
            before={words.inTheLast}
            unit={words.daysUnit}
            value={withinDays}
            placeholder={words.ever}
            onChange={(value) => onChange({ ...draft, withinDays: value })}
          />
          {isCounted ? adding : null}
        </Group>
      ) : null}
    </Stack>
  )
}

interface AddDetailProps extends Pick<MatchFieldsProps, 'draft' | 'onChange' | 'isCounted'> {
  /** Whether it means any event. */
  isAny: boolean
}

function AddDetail({ draft, isAny, isCounted, onChange }: AddDetailProps) {
  const { texts, types, measure, after, before } = draft
  const setText = (name: EventText) => onChange({ ...draft, texts: { ...texts, [name]: '' } })
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} aria-hidden />}>
          {words.addDetails}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChange(withCondition(draft))}>{words.where}</Menu.Item>
        {EVENT_TEXTS.filter((name) => texts[name] === undefined && (name !== 'type' || isAny)).map((name) => (
          <Menu.Item key={name} onClick={() => setText(name)}>
            {words.details[name]}
          </Menu.Item>
        ))}
        {types === undefined ? <Menu.Item onClick={() => onChange(withTypes(draft))}>{words.types}</Menu.Item> : null}
        {isCounted && measure === undefined ? (
          <Menu.Item onClick={() => onChange({ ...draft, measure: { function: 'sum', on: newMeasured() } })}>
            {words.addMeasure}
          </Menu.Item>
        ) : null}
        {after === undefined ? (
          <Menu.Item onClick={() => onChange({ ...draft, after: '' })}>{words.addDates.after}</Menu.Item>
        ) : null}
        {before === undefined ? (
          <Menu.Item onClick={() => onChange({ ...draft, before: '' })}>{words.addDates.before}</Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  )
}

const newMeasured = () => ({ ...newProperty(), operator: 'gte' as const })

function without<Name extends 'where' | 'measure' | 'after' | 'before'>(draft: MatchDraft, name: Name): MatchDraft {
  const { [name]: _removed, ...others } = draft
  return others as MatchDraft
}

/** Without its last condition there is no list. */
function withWhere(draft: MatchDraft, where: NonNullable<MatchDraft['where']>): MatchDraft {
  return where.conditions.length === 0 ? without(draft, 'where') : { ...draft, where }
}

function withCondition(draft: MatchDraft): MatchDraft {
  const { where = newGroup('all') } = draft
  return { ...draft, where: { ...where, conditions: [...where.conditions, newProperty()] } }
}

/** Several types begin with the one that is chosen. */
function withTypes(draft: MatchDraft): MatchDraft {
  const { type = '', ...texts } = draft.texts
  return { ...draft, texts, types: type === '' ? [] : [type] }
}

interface DetailProps {
  label: string
  onRemove: () => void
  children: ReactNode
}

function Detail({ label, onRemove, children }: DetailProps) {
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {children}
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={words.removeDetail(label)} onClick={onRemove}>
        <IconX size={14} aria-hidden />
      </ActionIcon>
    </Group>
  )
}

const COUNT_OPERATORS = Object.keys(text.counts) as CountOperator[]

function CountFields({ draft, onChange }: Pick<MatchFieldsProps, 'draft' | 'onChange'>) {
  const { count, countOperator } = draft
  return (
    <Group gap={6}>
      <NativeSelect
        aria-label={words.countOperator}
        value={countOperator}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...draft, countOperator: COUNT_OPERATORS.find((each) => each === value) ?? countOperator })
        }
        data={COUNT_OPERATORS.map((each) => ({ value: each, label: text.counts[each] }))}
      />
      <Amount
        label={words.countLabel}
        unit={words.times}
        value={count}
        placeholder={countOperator === 'gte' ? '1' : ''}
        onChange={(value) => onChange({ ...draft, count: value })}
      />
    </Group>
  )
}

interface AmountProps {
  label: string
  before?: string
  unit?: string
  value: string
  placeholder: string
  onChange: (value: string) => void
}

export function Amount({ label, before, unit, value, placeholder, onChange }: AmountProps) {
  return (
    <Group gap={6} wrap="nowrap">
      {before === undefined ? null : (
        <Text size="sm" c="dimmed">
          {before}
        </Text>
      )}
      <TextInput
        aria-label={label}
        inputMode="numeric"
        w={64}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.currentTarget.value.replaceAll(/\D/g, '').slice(0, 6))}
      />
      {unit === undefined ? null : (
        <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {unit}
        </Text>
      )}
    </Group>
  )
}
