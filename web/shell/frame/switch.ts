import { useMutation } from 'urql'
import { type Problem, problemOf } from '../data/problems.ts'
import { base } from '../place.ts'
import { keepToken, readToken } from '../session/token.ts'
import { SwitchContextDocument, SwitchOrganizationDocument } from './frame.generated.ts'

/** What leads to another organization, or to personal context. */
export interface Switch {
  readonly isBusy: boolean
  readonly problem: Problem | null
  /** @param organizationId null for personal context. @param path the page that opens then. @default the app's start */
  switchTo(organizationId: string | null, path?: string): Promise<void>
}

/** Switches the context of this session. What was read belongs to the former context, so the document is loaded anew. */
export function useSwitch(): Switch {
  const [toOrganization, switchOrganization] = useMutation(SwitchOrganizationDocument)
  const [toPerson, switchContext] = useMutation(SwitchContextDocument)
  async function switchTo(organizationId: string | null, path = '/') {
    const token =
      organizationId === null
        ? (await switchContext({ input: { context: 'PERSONAL' } })).data?.switchContext
        : (await switchOrganization({ input: { organizationId } })).data?.switchOrganization
    if (!token) return
    if (readToken()) keepToken(token)
    location.assign(`${base}${path}`)
  }
  return { isBusy: toOrganization.fetching || toPerson.fetching, problem: problemOf(toOrganization.error ?? toPerson.error), switchTo }
}
