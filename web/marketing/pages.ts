/** A page of the marketing site: static HTML that works without a script. */
export interface SitePage {
  /** Its address on the site's own host; `:package` stands for one part. */
  readonly path: string
  /** What it consists of: points to read, or a form to send. */
  readonly shape: 'home' | 'product' | 'points' | 'form' | 'plain'
  /** The primary action. @default to sign up */
  readonly action?: 'demo' | 'developers' | 'none'
  /** A form's address, and the names of its fields. */
  readonly form?: {
    readonly to: string
    /** Fields with a fixed value. */
    readonly hidden?: Readonly<Record<string, string>>
    readonly fields: readonly ('name' | 'email' | 'company' | 'startsAt' | 'message' | 'code')[]
    /** Whether it needs no solution of a challenge. @default it does */
    readonly isOpen?: true
    readonly verb: string
  }
}

export const products = ['publishing', 'agents', 'payments', 'launcher', 'providers'] as const
export const packages = ['three', 'five', 'ten', 'everything', 'free_workspace'] as const

/** Products of which a part is still being built; the third point of each says which. */
export const unfinished: ReadonlySet<string> = new Set(['agents', 'payments'])

/** The pages of the marketing site, by their names, under which their words stand. */
export const site: Readonly<Record<string, SitePage>> = {
  home: { path: '/', shape: 'home' },
  ...Object.fromEntries(products.map(name => [name, { path: `/product/${name}`, shape: 'product' } as const])),
  pricing: { path: '/pricing', shape: 'points' },
  enterprise: { path: '/enterprise', shape: 'points', action: 'demo' },
  developers: { path: '/developers', shape: 'points', action: 'developers' },
  privacy: { path: '/privacy', shape: 'points', action: 'none' },
  feedback: {
    path: '/feedback',
    shape: 'form',
    form: { to: '/api/contact', hidden: { kind: 'feedback', page: '/feedback' }, fields: ['name', 'email', 'message'], verb: 'form.send-feedback' },
  },
  contact: {
    path: '/contact',
    shape: 'form',
    form: { to: '/api/contact', hidden: { kind: 'contact', page: '/contact' }, fields: ['name', 'email', 'message'], verb: 'form.send' },
  },
  waitlist: { path: '/waitlist', shape: 'form', form: { to: '/api/waitlist', fields: ['name', 'email'], verb: 'form.join' } },
  demo: {
    path: '/demo',
    shape: 'form',
    form: { to: '/api/demo-bookings', hidden: { purpose: 'demo' }, fields: ['startsAt', 'name', 'email', 'company', 'message'], verb: 'form.book' },
  },
  'demo-cancel': { path: '/demo/cancel', shape: 'form', form: { to: '/api/demo-bookings/cancel', fields: ['code'], verb: 'form.cancel', isOpen: true } },
  checkout: { path: '/checkout/:package', shape: 'plain', action: 'demo' },
  admin: { path: '/admin', shape: 'plain', action: 'none' },
}
