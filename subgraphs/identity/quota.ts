/** How much may be made, so that one caller cannot fill the database or search it for people. */
export interface Quotas {
  /** Organizations that one person creates in 24 hours, and has created in all. */
  readonly organizationsADay: number
  readonly organizationsAPerson: number
  /** Members of one organization. */
  readonly membersAnOrganization: number
  /** Addresses that one person tries with `addMember` in an hour, found or not; counted by each process for itself. */
  readonly additionsAnHour: number
  /** API keys of one organization that stand (neither revoked nor expired), and that are created in 24 hours. */
  readonly keysAnOrganization: number
  readonly keysADay: number
}
