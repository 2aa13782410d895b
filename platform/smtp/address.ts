/** Address of a mail server, and its connection security. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /**
   * TLS from the first byte on; else STARTTLS where the server offers it. The certificate is verified in both cases.
   */
  readonly secure: boolean
  readonly auth: { readonly user: string; readonly pass: string } | null
}

/**
 * Reads `smtp://user:password@host:587` or `smtps://…`.
 * @returns null for an invalid address
 */
export function readMailServer(url: string): MailServer | null {
  if (!/^smtps?:\/\/[^/?#]+\/?$/i.test(url) || !URL.canParse(url)) return null
  const { protocol, hostname, port, username, password } = new URL(url)
  if (!hostname || (username === '') !== (password === '')) return null
  const secure = protocol === 'smtps:'
  try {
    return {
      host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
      port: port ? Number(port) : secure ? 465 : 587,
      secure,
      auth: username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : null,
    }
  } catch {
    return null
  }
}
