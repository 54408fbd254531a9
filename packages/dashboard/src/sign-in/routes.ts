import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { invitationQuery, signInOptionsQuery } from '../api/session.ts'
import { rootRoute } from '../app/root-routes.tsx'
import { searchParams, text } from '../app/search-params.ts'

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchParams({ redirect: text }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(signInOptionsQuery),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const setup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyRouteComponent(() => import('./setup-page.tsx'), 'SetupPage'),
})

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation/$token',
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(invitationQuery(params.token)),
  component: lazyRouteComponent(() => import('./invitation-page.tsx'), 'InvitationPage'),
})

export const signInRoutes = [signIn, setup, invitation] as const
