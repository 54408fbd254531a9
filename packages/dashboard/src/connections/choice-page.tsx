import { Card, SimpleGrid, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import classes from '../connect/connect.module.css'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { text } from './text.ts'

/** The systems that can be connected. */
export function ChoicePage() {
  const { data, error, refetch } = useQuery(queryOf('listConnectors'))
  return (
    <>
      <PageHeader
        title={text.choice.title}
        description={text.choice.description}
        breadcrumb={
          <AnchorLink inherit to="/connections">
            {text.title}
          </AnchorLink>
        }
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState /> : null}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
        {data?.connectors.map(({ name, label, objects }) => (
          <Card key={name} className={classes.tile}>
            <Title order={2} size="h5" mb={4}>
              <AnchorLink
                inherit
                c="inherit"
                className={classes.open}
                to="/connections/new/$connector"
                params={{ connector: name }}
              >
                {label}
              </AnchorLink>
            </Title>
            <Text size="sm" c="dimmed">
              {text.choice.reads(objects)}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
    </>
  )
}
