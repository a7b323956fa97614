// The part of the step in settings-step.ts that is about PostgreSQL's own roles: those that members use among themselves, and
// the superuser. It makes what is missing, and gives them the passwords that Patroni logs in with.
//
// Patroni makes the roles when it makes the cluster, and never again: killed in between, it leaves a primary that nobody
// can follow. And a password that is new in the stack file has to be set here before Patroni gets to know it.

export const ROLES_STEP = String.raw`
# Passwords come in the environment, and neither log nor statistics may have them. No standby may be there yet to wait for.
QUIETLY = """
SET synchronous_commit = local;
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
SET track_activities = off;
SET password_encryption = 'scram-sha-256';
"""

MAKE_ROLES = QUIETLY + r"""
\getenv replication REPLICATION_PASSWORD
\getenv rewind REWIND_PASSWORD
SELECT format('CREATE ROLE %I LOGIN REPLICATION PASSWORD %L', :'replication_role', :'replication')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'replication_role') \gexec
SELECT format(
    'CREATE ROLE %1$I LOGIN PASSWORD %2$L;
     GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean),
     pg_read_binary_file(text), pg_read_binary_file(text, bigint, bigint, boolean) TO %1$I',
    :'rewind_role', :'rewind')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'rewind_role') \gexec
"""

SET_PASSWORD = QUIETLY + r"""
\getenv password NEW_PASSWORD
ALTER ROLE :"role" PASSWORD :'password';
"""

REFUSED = 'password authentication failed'


class Server:
    def __init__(self, postgresql, member):
        users = postgresql['authentication']
        self.psql = os.path.join(postgresql['bin_dir'], 'psql')
        self.roles = {name: user['username'] for name, user in users.items()}
        self.environment = {
            'PGHOST': member['host'],
            'PGPORT': str(member['port']),
            'PGSSLMODE': users['superuser']['sslmode'],
            'PGSSLROOTCERT': users['superuser']['sslrootcert'],
            'PGCONNECT_TIMEOUT': '5',
        }

    def run(self, user, password, sql, variables={}, environment={}):
        """What is wrong, or nothing."""
        database = 'dbname=postgres replication=true' if user == 'replication' else 'dbname=postgres'
        command = [self.psql, '-XAtq', '-d', database, '-U', self.roles[user], '-v', 'ON_ERROR_STOP=1']
        for name, value in variables.items():
            command += ['-v', name + '=' + value]
        env = {**self.environment, **environment, 'PGPASSWORD': password}
        result = subprocess.run(command, input=sql, env=env, capture_output=True, text=True, timeout=30)
        return result.stderr.strip() or 'psql failed' if result.returncode else ''

    def execute(self, password, sql, variables, environment):
        problem = self.run('superuser', password, sql, variables, environment)
        if problem:
            raise OSError(problem)

    def takes(self, user, password):
        problem = self.run(user, password, 'IDENTIFY_SYSTEM;' if user == 'replication' else 'SELECT;')
        if problem and REFUSED not in problem:
            raise OSError(problem)
        return not problem


def set_roles(api, postgresql, wanted, kept_file):
    leader = next((member for member in api.members() if member['role'] == 'leader'), None)
    if leader is None:
        return False
    server = Server(postgresql, leader)
    known = [wanted['superuser'], *(load(kept_file) if os.path.exists(kept_file) else [])]
    password = next((each for each in known if server.takes('superuser', each)), None)
    if password is None:
        sys.exit('PostgreSQL refuses the password of its superuser, and those it had before')
    names = {'replication_role': server.roles['replication'], 'rewind_role': server.roles['rewind']}
    secrets = {'REPLICATION_PASSWORD': wanted['replication'], 'REWIND_PASSWORD': wanted['rewind']}
    server.execute(password, MAKE_ROLES, names, secrets)
    # Both, whenever this is interrupted.
    save(kept_file, [password, wanted['superuser']])
    # The superuser is the last: until then its password is the one we come with.
    for user in ('replication', 'rewind', 'superuser'):
        if not server.takes(user, wanted[user]):
            server.execute(password, SET_PASSWORD, {'role': server.roles[user]}, {'NEW_PASSWORD': wanted[user]})
            print('Password changed: ' + server.roles[user])
    save(kept_file, [wanted['superuser']])
    return True


def load(path):
    with open(path) as file:
        return json.load(file)


def save(path, value):
    descriptor = os.open(path + '.new', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'w') as file:
        json.dump(value, file)
    os.replace(path + '.new', path)
`
