import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostsOf } from '../../hosts.ts'

export interface Welcome {
  readonly url: string
  /** Pages for people, with their names. */
  readonly pages: readonly (readonly [what: string, where: string])[]
  readonly database: string
  readonly demo: { readonly accounts: readonly string[]; readonly password: string; readonly sandbox: string; readonly takesMails: boolean } | null
  /** Sentences about anything unexpected. */
  readonly notices: readonly string[]
  /** Addresses of distributed processes, each with its name. @default none */
  readonly processes?: readonly (readonly [what: string, where: string])[]
}

export const version = (): string => (JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as { version: string }).version

/** Addresses of the pages that people begin with. */
export const pagesOf = (config: Parameters<typeof hostsOf>[0]): Welcome['pages'] => [
  ['Dashboard', hostsOf(config).addressOf('launcher', 'web', '/dashboard')],
  ['Publishing', hostsOf(config).addressOf('publishing', 'web', '/dashboard')],
]

/** Printed before the ready line: addresses, demo accounts, and what is unusual about this start. */
export function welcome({ url, pages, database, demo, notices, processes = [] }: Welcome): readonly string[] {
  const lines = [
    `supergraph ${version()}`,
    '',
    ...pages.map(([what, where]) => `  ${what.padEnd(28)} ${where}`),
    `  GraphQL and Apollo Sandbox   ${url}/graphql`,
    `  Overview of every page       ${url}/`,
    `  REST                         ${url}/docs`,
    `  Health                       ${url}/health/ready`,
    `  Database                     ${database}`,
    ...processes.map(([what, where]) => `  ${what.padEnd(28)} ${where}`),
  ]
  if (demo)
    lines.push(
      `  Sandbox (plays others)       ${demo.sandbox}`,
      ...(demo.takesMails ? [`  Mails                        ${demo.sandbox}/_control/received?network=smtp`] : []),
      '',
      `  Demo accounts, password ${demo.password}`,
      ...demo.accounts.map(account => `    ${account}`),
    )
  if (notices.length > 0) lines.push('', ...notices.map(notice => `  ${notice}`))
  return [...lines, '']
}
