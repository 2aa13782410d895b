import type { ServiceDefinition } from '@apollo/federation-internals'
import { optional } from '../host/optional.ts'

type Composition = Pick<typeof import('@apollo/composition'), 'composeServices'>

/**
 * Composes subgraphs.
 * @param by who needs it
 * @throws Error with every reason for which they cannot be composed, or where `@apollo/composition` is not installed
 */
export function compose(subgraphs: ServiceDefinition[], by: string): string {
  const composition = optional<Composition>('@apollo/composition')
  if (!composition) throw new Error(`${by} needs the package @apollo/composition: install it with \`npm install @apollo/composition\`.`)
  const { errors, supergraphSdl } = composition.composeServices(subgraphs)
  if (errors)
    throw new Error(
      `A valid schema couldn't be composed. The following composition errors were found:\n${errors.map(({ message }) => `\t${message}`).join('\n')}`,
    )
  return supergraphSdl
}
