import { AppShell, Badge, Box, Burger, Group, NavLink, ScrollArea, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { showOverlay } from '../ui/overlay.ts'
import { useShortcuts } from '../ui/shortcuts.ts'
import { AccountMenu } from './account-menu.tsx'
import { ALL_PAGES, isWithin, MAIN_PAGES, NAVIGATION, type WaitingCountQuery } from './navigation.ts'
import { Overlays } from './overlays.tsx'
import { SearchButton, SearchIcon } from './search-button.tsx'
import classes from './shell.module.css'
import { text } from './text.ts'

/** The frame of every page: the navigation at the side, behind a button on small screens. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const burger = useRef<HTMLButtonElement>(null)
  const shut = () => {
    if (!isOpen) return
    close()
    // The focus must not stay in a hidden element.
    burger.current?.focus()
  }
  // In an open menu, the key closes that menu.
  useHotkeys([['Escape', ({ target }) => (target instanceof Element && target.closest('[role=menu]') ? null : shut())]])
  useFrameShortcuts()
  useReadyPages()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const main = useRef<HTMLElement>(null)
  const lastPath = useRef(path)
  useEffect(() => {
    if (lastPath.current === path) return
    lastPath.current = path
    close()
    // Screen readers and the keyboard continue at the new page.
    main.current?.focus({ preventScroll: true })
  }, [path, close])

  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', lg: 'xl' }}
    >
      <a className={classes.skip} href="#main">
        {text.skip}
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" gap="sm">
          <Burger
            ref={burger}
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={text.openNavigation}
            aria-expanded={isOpen}
          />
          <Brand />
          {/* Behind the open navigation, the next stop of the keyboard is its first link. */}
          {isOpen ? null : <SearchIcon />}
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label={text.mainNavigation} data-closed={!isOpen}>
        <Stack px="md" py="md" gap="md" visibleFrom="sm">
          <Brand />
          <SearchButton />
        </Stack>
        <ScrollArea flex={1} px="xs" pt={{ base: 'xs', sm: 0 }}>
          {NAVIGATION.map(({ label, items }) => (
            <Box key={label ?? items[0]?.label} mb="xs">
              {label === null ? null : <Text className={classes.group}>{label}</Text>}
              {items.map((item) => {
                const { label: name, icon: Icon, link, count } = item
                return (
                  <NavLink
                    key={name}
                    data-within={isWithin(path, item) || undefined}
                    className={classes.link}
                    renderRoot={(props) => (
                      <Link {...link} {...props} activeOptions={{ exact: link.to === '/', includeSearch: false }} />
                    )}
                    label={name}
                    leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
                    rightSection={count ? <Waiting query={count} /> : null}
                    onClick={shut}
                  />
                )
              })}
            </Box>
          ))}
        </ScrollArea>
        <AccountMenu />
      </AppShell.Navbar>
      {/* On a phone the navigation covers the page: it closes when the focus enters the page. */}
      <AppShell.Main className={classes.main} onFocus={close}>
        <Box component="section" id="main" ref={main} tabIndex={-1} className={classes.page}>
          <Outlet />
        </Box>
      </AppShell.Main>
      <Overlays />
    </AppShell>
  )
}

/** Fetches the scripts of the main pages when idle: on touch screens, nothing announces the next page. */
function useReadyPages(): void {
  const router = useRouter()
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const [path, page] of Object.entries(router.routesByPath)) {
        if (MAIN_PATHS.has(path)) void router.loadRouteChunk(page)
      }
    }, IDLE_MS)
    return () => clearTimeout(timer)
  }, [router])
}

const MAIN_PATHS = new Set<string | undefined>(MAIN_PAGES.map(({ link }) => link.to))

/** By then the current page has loaded. */
const IDLE_MS = 2_500

/** The number of waiting items behind a link. */
function Waiting({ query }: { query: WaitingCountQuery }) {
  const { data = 0 } = useQuery(query)
  if (data === 0) return null
  return (
    <Badge variant="filled" size="sm" radius="xl">
      {data > 99 ? text.waitingMany : data}
      <VisuallyHidden>{` ${text.waiting}`}</VisuallyHidden>
    </Badge>
  )
}

function Brand() {
  return (
    <Group gap={10} wrap="nowrap">
      <img src="/favicon.svg" alt="" width={26} height={26} />
      <Text fw={650} size="sm">
        {text.product}
      </Text>
    </Group>
  )
}

/** The shortcuts of every page. */
function useFrameShortcuts(): void {
  const router = useRouter()
  const { shortcuts: label } = text
  useShortcuts(label.everywhere, [
    // Handled apart, because it works in fields too.
    { keys: 'Ctrl+K', label: label.palette },
    { keys: '/', label: label.search, run: focusSearch },
    { keys: '?', label: label.help, run: () => showOverlay('shortcuts') },
    ...ALL_PAGES.flatMap(({ key, label: name, link }) =>
      key === undefined ? [] : { keys: `g ${key}`, label: label.goTo(name), run: () => void router.navigate(link) },
    ),
  ])
}

/** Focuses the search field of the page; without one, searches everything. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#main input[type="search"]')
  if (!field) showOverlay('palette')
  field?.focus()
  field?.select()
}
