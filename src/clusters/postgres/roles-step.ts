// The part of the step in settings-step.ts that is about PostgreSQL's roles: it makes those that are missing and gives them
// the passwords of the stack file, all in one transaction, so that there is no state between the old ones and the new.
//
// Patroni makes the roles when it makes the cluster, and never again: killed in between, it leaves a primary that nobody
// can follow. PostgreSQL is never told a password, only what it keeps of one (RFC 5802).

export const ROLES_STEP = String.raw`
# Neither log nor statistics have to know what is kept of passwords. No standby may be there yet to wait for.
QUIETLY = """
SET synchronous_commit = local;
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
SET track_activities = off;
"""
# Each can give the other its password back.
SUPERUSERS = ('patroni', 'postgres')
REFUSED = 'password authentication failed'
SCRAM = re.compile(r'SCRAM-SHA-256\$(\d+):([^$]+)\$')
ITERATIONS = 4096


class Server:
    """PostgreSQL of a member."""

    def __init__(self, postgresql, member):
        superuser = postgresql['authentication']['superuser']
        self.command = [os.path.join(postgresql['bin_dir'], 'psql'), '-XAtq', '-v', 'ON_ERROR_STOP=1']
        self.environment = {
            'PGHOST': member['host'],
            'PGPORT': str(member['port']),
            'PGDATABASE': 'postgres',
            'PGSSLMODE': superuser['sslmode'],
            'PGSSLROOTCERT': superuser['sslrootcert'],
            'PGCONNECT_TIMEOUT': '5',
        }

    def run(self, role, password, sql):
        env = {**self.environment, 'PGUSER': role, 'PGPASSWORD': password}
        return subprocess.run(self.command, input=sql, env=env, capture_output=True, text=True, timeout=30)

    def execute(self, role, password, sql):
        result = self.run(role, password, sql)
        if result.returncode:
            raise OSError(result.stderr.strip())
        return result.stdout

    def takes(self, role, password):
        return self.run(role, password, 'SELECT 1').returncode == 0


def set_roles(api, postgresql, roles):
    leader = next((member for member in api.members() if member['role'] == 'leader'), None)
    if leader is None:
        return False
    server = Server(postgresql, leader)
    superuser = log_in(server, roles)
    names = ', '.join(map("'{}'".format, roles))
    rows = server.execute(*superuser, 'SELECT rolname, rolpassword FROM pg_authid WHERE rolname IN (' + names + ')')
    kept = dict(row.split('|', 1) for row in rows.splitlines())
    changed = [name for name, role in roles.items() if not is_kept(role['password'], kept.get(name, ''))]
    if changed:
        made = [sql for name in changed if name not in kept for sql in roles[name]['made_by']]
        given = ["ALTER ROLE {} PASSWORD '{}'".format(name, to_keep(roles[name]['password'])) for name in changed]
        server.execute(*superuser, QUIETLY + ';\n'.join(['BEGIN', *made, *given, 'COMMIT;']))
        print('Created or updated roles: ' + ', '.join(changed))
    return True


def log_in(server, roles):
    for name in SUPERUSERS:
        password = roles[name]['password']
        result = server.run(name, password, 'SELECT 1')
        if not result.returncode:
            return name, password
        if REFUSED not in result.stderr:
            raise OSError(result.stderr.strip())
    raise OSError('PostgreSQL refuses the passwords of ' + ' and '.join(SUPERUSERS) + '; one of them has to be what it was')


def is_taken(api, postgresql, roles):
    """By all members: a new password that only the leader knows would be lost with it."""
    servers = [Server(postgresql, member) for member in api.members()]
    return all(server.takes('postgres', roles['postgres']['password']) for server in servers)


def to_keep(password, salt=None, iterations=ITERATIONS):
    salt = salt or os.urandom(16)
    salted = hashlib.pbkdf2_hmac('sha256', prepared(password).encode(), salt, iterations)
    client_key, server_key = (hmac.digest(salted, name, 'sha256') for name in (b'Client Key', b'Server Key'))
    stored_key = hashlib.sha256(client_key).digest()
    salt, stored_key, server_key = (base64.b64encode(each).decode() for each in (salt, stored_key, server_key))
    return 'SCRAM-SHA-256$%d:%s$%s:%s' % (iterations, salt, stored_key, server_key)


def is_kept(password, kept):
    match = SCRAM.match(kept)
    return match is not None and to_keep(password, base64.b64decode(match[2]), int(match[1])) == kept


def prepared(password):
    """As clients do it (RFC 4013), and with them: what must not be in a password is taken as it is."""
    kept = (each for each in password if not stringprep.in_table_b1(each))
    text = unicodedata.normalize('NFKC', ''.join(' ' if stringprep.in_table_c12(each) else each for each in kept))
    leftwards = [stringprep.in_table_d1(each) for each in text]
    is_mixed = any(leftwards) and (
        any(map(stringprep.in_table_d2, text)) or not (leftwards[0] and leftwards[-1])
    )
    is_forbidden = any(table(each) for each in text for table in FORBIDDEN)
    return password if not text or is_mixed or is_forbidden else text


FORBIDDEN = (
    stringprep.in_table_a1,
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
)
`
