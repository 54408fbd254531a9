import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { text } from './text.ts'

const PATHS = { events: '/events', visits: '/events/visits', groups: '/events/groups' } as const
type Tab = keyof typeof PATHS

const isTab = (tab: string | null): tab is Tab => tab !== null && Object.hasOwn(PATHS, tab)

/** The three views of events. */
export function EventTabs({ current }: { current: Tab }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      mb="md"
      onChange={(tab) => (isTab(tab) ? navigate({ to: PATHS[tab] }) : undefined)}
      // Each is a page with its own URL, so arrow keys alone do not switch.
      activateTabWithKeyboard={false}
    >
      <Tabs.List aria-label={text.tabs.label}>
        <Tabs.Tab value="events">{text.tabs.events}</Tabs.Tab>
        <Tabs.Tab value="visits">{text.tabs.visits}</Tabs.Tab>
        <Tabs.Tab value="groups">{text.tabs.groups}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
