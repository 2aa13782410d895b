import { DomainError } from '../../../../platform/errors.ts'

/**
 * Rejects a public suffix, below which many organizations have names of their own, such as `co.uk` or `github.io`
 * (publicsuffix.org, its private part included). The list is loaded at first use.
 * @throws BAD_USER_INPUT with the `field`
 */
export async function refusePublicSuffix(domain: string): Promise<void> {
  const { getPublicSuffix } = await import('tldts')
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) !== domain) return
  const sentence = `domain ${domain} is a public suffix, below which others register names: name one that is yours, such as mail.example.${domain}.`
  throw new DomainError('BAD_USER_INPUT', sentence, { field: 'domain' })
}
