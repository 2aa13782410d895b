import { type Graph, saidOf, tellOf } from '../meta/graph.ts'
import { GrantFailure } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import type { Account, Place } from '../publication.ts'
import { title } from './posts.ts'

/** Maximum number of result pages of an account's Facebook pages that are read, a hundred per result page. */
const mostLists = 5

/** Reads the entries of a list, page by page up to the maximum. */
async function listOf<Entry extends object>(graph: Graph, path: string, parameters: Readonly<Record<string, string>>): Promise<readonly Entry[]> {
  const all: Entry[] = []
  let after: string | undefined
  for (let list = 0; list < mostLists; list += 1) {
    const answer = await graph.get<{ data: Entry[]; paging: { next?: string; cursors?: { after?: string } } }>(path, {
      ...parameters,
      limit: '100',
      ...(after && { after }),
    })
    const { data = [], paging } = tellOf(title, answer)
    all.push(...data)
    after = paging?.next ? paging.cursors?.after : undefined
    if (!after) break
  }
  return all
}

/** Returns the pages of an account, and its groups where they are allowed. */
async function placesOf(graph: Graph, takesGroups: boolean, accessToken: string): Promise<readonly Place[]> {
  interface Page {
    readonly id: string
    readonly name: string
    readonly access_token?: string
    readonly tasks?: readonly string[]
  }
  const pages = await listOf<Page>(graph, '/me/accounts', { fields: 'id,name,access_token,tasks', access_token: accessToken })
  const groups = takesGroups
    ? await listOf<{ id: string; name: string }>(graph, '/me/groups', { fields: 'id,name', admin_only: 'true', access_token: accessToken })
    : []
  return [
    ...pages.map(({ id, name, access_token: own, tasks }): Place => {
      const may = own !== undefined && (tasks === undefined || tasks.includes('CREATE_CONTENT'))
      return {
        kind: 'PAGE',
        externalId: id,
        name,
        accessToken: own ?? null,
        available: may,
        reason: may ? null : 'The account may not publish on this page: ask an admin of the page to allow it.',
      }
    }),
    ...groups.map(({ id, name }): Place => ({ kind: 'GROUP', externalId: id, name, accessToken: null, available: true, reason: null })),
  ]
}

/** Reads who the account is, and where it may post. */
export async function accountOf(graph: Graph, takesGroups: boolean, accessToken: string): Promise<Account> {
  try {
    const answer = await graph.get<{ id: string; name: string; picture: { data?: { url?: string } } }>('/me', {
      fields: 'id,name,picture.type(large)',
      access_token: accessToken,
    })
    const { id, name, picture } = answer.said
    if (!id || !name)
      throw new GrantFailure(
        `Facebook does not say whose account this is: ${saidOf(title, answer)}`,
        answer.status >= 400 && answer.status < 500 && answer.status !== 429,
      )
    return { externalId: id, name, avatarUrl: picture?.data?.url ?? null, places: await placesOf(graph, takesGroups, accessToken) }
  } catch (error) {
    throw error instanceof GrantFailure ? error : grantFailure(title, error)
  }
}
